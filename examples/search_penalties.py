"""Choose c1 and c2 by cross-validation, by the F1 of the labels that matter.

python examples/search_penalties.py
"""

from __future__ import annotations

from scipy.stats import loguniform
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV

from fastcrf import CRF, metrics
from fastcrf.data.datasets.addresses import address_items, make_addresses

tokens, y = make_addresses(400, random_state=0)
X = [address_items(address) for address in tokens]
names = sorted({label for labels in y for label in labels} - {"PlaceName"})

search = RandomizedSearchCV(
    CRF(all_possible_transitions=True, tol=1e-2),
    {"c1": loguniform(1e-2, 1), "c2": loguniform(1e-2, 1)},
    n_iter=5,
    cv=3,
    n_jobs=2,
    random_state=0,
    scoring=make_scorer(metrics.flat_f1_score, average="weighted", labels=names),
).fit(X, y)

print(f"best F1 {search.best_score_:.3f} at c1={search.best_params_['c1']:.3g}, c2={search.best_params_['c2']:.3g}")
best = search.best_estimator_
print(f"{len(best.attributes_)} attributes, {len(best.state_features_)} weights, {len(best.to_bytes()):,} bytes")
