"""
Learning from a stream
======================

Train on data that arrives in chunks, without storing it, and add labels along the way.

Run it with ``python examples/stream.py``.
"""

# %%
# Chunks
# ------
# ``partial_fit`` trains on one chunk and discards it. Its default solver is ``psa``, which adapts 1
# step size per weight.

from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from fastcrf import CRF
from fastcrf.data.datasets.addresses import address_items, make_addresses

tokens, y = make_addresses(3000, random_state=0)
X = [address_items(address) for address in tokens]
X_test, y_test = X[2500:], y[2500:]
chunks = [(X[first : first + 100], y[first : first + 100]) for first in range(0, 2500, 100)]

crf = CRF(c2=0.5)
seen, before, held_out = [], [], []
for k, chunk in enumerate(chunks, 1):
    crf.partial_fit(*chunk)
    seen.append(100 * k)
    before.append(crf.history_[-1]["progressive_error"])
    held_out.append(1 - crf.score(X_test, y_test))
print(f"after {seen[-1]} addresses: held-out token error {held_out[-1]:.2%}")

# %%
# The progressive error of a chunk is the share of tokens whose most probable label was wrong
# before the model learned from them. It needs no held-out data.

batch = CRF(c2=0.5).fit(X[:2500], y[:2500])
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(seen, before, label="progressive error of the chunk")
ax.plot(seen, held_out, label="held-out error")
ax.axhline(1 - batch.score(X_test, y_test), color="gray", linestyle=":", label="held-out error of fit on all data")
ax.set(xlabel="addresses seen", ylabel="token error", yscale="log")
ax.legend()
plt.show()

# %%
# New labels
# ----------
# A label or an attribute may appear in any chunk.

country = [[*address, ["bias", "word=france", "shape=A"]] for address in X[:100]]
crf.partial_fit(country, [[*labels, "Country"] for labels in y[:100]])
print("Country" in crf.classes_, f"held-out token error {1 - crf.score(X_test, y_test):.2%}")

# %%
# Stop and resume
# ---------------
# ``save_stream`` saves the model and the state of the solver. A resumed stream ends with the same
# weights, bit for bit. ``save`` saves the model alone, to tag with.

with TemporaryDirectory() as folder:
    crf.save_stream(f"{folder}/addresses.stream")
    resumed = CRF.load_stream(f"{folder}/addresses.stream")
crf.partial_fit(*chunks[0])
resumed.partial_fit(*chunks[0])
print(resumed.state_features_ == crf.state_features_)

# %%
# Your own data
# -------------
# ``fastcrf train --online`` reads a stream from standard input and keeps 1 chunk in memory:
#
# .. code-block:: shell
#
#     zcat logs-*.gz | fastcrf train - -m model.crf --online --checkpoint stream.state
#
# :doc:`/how-to/stream` describes penalties, memory and solvers for streams.
