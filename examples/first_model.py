"""
A first model: the parts of an address
======================================

Train a conditional random field (CRF) on postal addresses, tag new ones, and inspect the weights behind a label.

Run it with ``python examples/first_model.py``.
"""

# %%
# The data
# --------
# ``X`` has a list per address, with the attributes of each token. ``y`` has the label of each
# token. The addresses are generated, so this tutorial needs no download.

from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from fastcrf import CRF, load
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.displays import ConvergenceDisplay, TopFeaturesDisplay, TransitionMatrixDisplay
from fastcrf.metrics import flat_classification_report

tokens, y = make_addresses(1000, random_state=0)
X = [address_items(address) for address in tokens]
train, test = slice(0, 800), slice(800, 1000)

for token, attributes, label in zip(tokens[0], X[0], y[0], strict=True):
    print(f"{token:10} {label:14} {attributes[1:5]}")

# %%
# A token is described by a list of strings, or by a dict such as ``{"word": "elm", "length":
# 3}``, whose numbers count as values.
#
# Train
# -----
# ``c2`` is the weight of the L2 penalty. The default solver needs no tuning; it stops when the
# objective is certified to be within 0.1 % of the optimum (``tol=1e-3``). The first fit on a
# machine takes 5 to 20 seconds longer because it compiles kernels.

crf = CRF(c2=0.5).fit(X[train], y[train], X_dev=X[test], y_dev=y[test])
print(crf.stop_reason_)
print(f"{crf.n_iter_} iterations, token accuracy {crf.score(X[test], y[test]):.2%}")

# %%
# ``history_`` has a row per iteration. A display draws it:

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
ConvergenceDisplay.from_estimator(crf, ax=axes[0])
axes[1].plot(crf.history_.columns()["step"], crf.history_.columns()["dev_accuracy"])
axes[1].set(xlabel="iterations", ylabel="held-out token accuracy")
plt.show()

# %%
# Tag
# ---
# ``predict`` returns the best labels, ``predict_marginals`` the probability of each label.

address = ["Mary", "Oakford,", "12", "N", "Elm", "St", "Apt", "4B,", "Dallas", "TX", "75201"]
items = address_items(address)
for token, label, chances in zip(address, crf.predict_single(items), crf.predict_marginals_single(items), strict=True):
    print(f"{token:10} {label:15} {chances[label]:7.2%}")

# %%
# Evaluate
# --------

print(flat_classification_report(y[test], crf.predict(X[test]), digits=3))

# %%
# Why this label?
# ---------------
# A label's score is the sum of the weights of its attributes and of its transition. Red raises a
# score, blue lowers it.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
TopFeaturesDisplay.from_estimator(crf, label="StreetType", n=8, ax=axes[0])
TransitionMatrixDisplay.from_estimator(crf, ax=axes[1], numbers=False)
plt.show()

# %%
# Save
# ----
# The file holds the labels, the attributes and the weights. ``load`` returns a model that tags
# without scikit-learn.

with TemporaryDirectory() as folder:
    crf.save(f"{folder}/addresses.crf")
    print(load(f"{folder}/addresses.crf").predict_single(items)[:3])

# %%
# Your own data
# -------------
# Read a file with one token per line, the label in the last column and a blank line between
# sequences. ``address_items`` describes addresses; write a function of your own for other tokens:
#
# .. code-block:: python
#
#     from fastcrf.data.files.conll import read_columns
#
#     rows = [sentence.rows for sentence in read_columns("train.txt")]
#     X = [address_items([row[0] for row in sentence]) for sentence in rows]
#     y = [[row[-1] for row in sentence] for sentence in rows]
#
# On the command line, no program is needed:
#
# .. code-block:: shell
#
#     fastcrf train train.txt -m model.crf --dev dev.txt
#     fastcrf tag new.txt -m model.crf
#
# Next: :doc:`/tutorials/entities` writes the attributes by hand; :doc:`/tutorials/penalty`
# chooses ``c2``.
