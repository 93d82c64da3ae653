"""
Choosing the penalty
====================

Select ``c2`` by cross-validation, see how a model becomes sparse, and search over both penalties.

Run it with ``python examples/penalty.py``.
"""

# %%
# A path
# ------
# ``regularization_path`` trains a model for each penalty, from the strongest to the weakest. Each
# fit starts from the one before, so a path costs less than separate fits.

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV

from fastcrf import CRF, CRFCV, metrics, regularization_path
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.displays import RegularizationPathDisplay

tokens, y = make_addresses(600, random_state=0)
X = [address_items(address) for address in tokens]
train, test = slice(0, 400), slice(400, 600)

path = regularization_path(
    X[train], y[train], c2_values=[10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01], X_dev=X[test], y_dev=y[test]
)
for c2, passes, accuracy in zip(path.c2, path.passes, path.scores["accuracy"], strict=True):
    print(f"c2={c2:5}: {passes:5.1f} passes, held-out token accuracy {accuracy:.2%}")

# %%
# Cross-validation
# ----------------
# ``CRFCV`` follows a path in each fold, in parallel, and trains on all data with the best
# penalty. ``scoring`` is the mean log-likelihood per token, unless you choose "accuracy" or
# "segment_f1".

search = CRFCV(CRF(tol=1e-2), c2_values=[3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003], cv=3).fit(X[train], y[train])
print(f"selected c2={search.c2_:g}; token accuracy {search.score(X[test], y[test]):.2%}")

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
RegularizationPathDisplay.from_estimator(search, ax=ax)
ax.set(xlabel="c2", ylabel="held-out log-likelihood per token")
plt.show()

# %%
# Sparse models
# -------------
# ``c1`` sets weights to exactly zero. With ``c1_values=8``, the path has 8 values and starts at the
# smallest ``c1`` for which all weights are zero.

sparse = regularization_path(X[train], y[train], estimator=CRF(c2=0.01), c1_values=8, X_dev=X[test], y_dev=y[test])
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogx(sparse.c1, sparse.n_nonzero, "o-", label="weights other than zero")
ax.set(xlabel="c1", ylabel="weights other than zero")
accuracy = ax.twinx()
accuracy.plot(sparse.c1, sparse.scores["accuracy"], "s--", color="C1", label="held-out token accuracy")
accuracy.set(ylabel="held-out token accuracy")
figure.legend(loc="outside upper center", ncols=2)
plt.show()

small = sparse.model(4)
print(f"c1={sparse.c1[4]:.3g}: {len(small.state_features_)} weights, {len(small.to_bytes()):,} bytes")

# %%
# Both penalties, and other scores
# --------------------------------
# ``CRF`` is an estimator of scikit-learn, so its searches work, with a scorer of your own.

names = sorted({label for labels in y for label in labels} - {"PlaceName"})
both = RandomizedSearchCV(
    CRF(tol=1e-2),
    {"c1": loguniform(1e-2, 1), "c2": loguniform(1e-2, 1)},
    n_iter=4,
    cv=3,
    random_state=0,
    scoring=make_scorer(metrics.flat_f1_score, average="weighted", labels=names),
).fit(X[train], y[train])
print(f"best F1 {both.best_score_:.3f} at c1={both.best_params_['c1']:.3g}, c2={both.best_params_['c2']:.3g}")

# %%
# Your own data
# -------------
# From the shell, ``--cv`` selects ``c2`` from 10 to 0.01:
#
# .. code-block:: shell
#
#     fastcrf train train.txt -m model.crf --cv 5
