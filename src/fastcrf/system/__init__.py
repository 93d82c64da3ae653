"""Memory budget, memory-mapped arrays, threads, the cache folder and atomic writes; independent of corpora and
models.
"""
