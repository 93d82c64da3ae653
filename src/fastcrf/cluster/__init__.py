"""Training on the workers of a Dask cluster: each holds shards of the corpus, and the client holds the model.

Needs the extra `fastcrf[dask]`. Everything that lies on a worker is the result of a task that began with a file (or,
for data from Python, with what the client still holds): what is lost with a worker is made again by another one.
"""
