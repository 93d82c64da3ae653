"""
How fast do solvers converge?
=============================

Run four solvers on the same problem and compare their distance to the optimum.

Run it with ``python examples/compare_solvers.py``.
"""

# %%
# A problem
# ---------
# ``CRF`` hides these steps: encode the data, choose the features, build the objective.

import matplotlib.pyplot as plt

from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.displays import ConvergenceDisplay
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers import make
from fastcrf.stopping import CertifiedGap, MaxPasses
from fastcrf.training.driver import minimize

tokens, labels = make_addresses(400, random_state=0)
corpus, attributes, classes = encode_training([address_items(address) for address in tokens], labels)
features = build_feature_map(corpus, len(attributes), len(classes))
problem = Problem(corpus, features, c1=0.0, c2=1.0)

# %%
# The optimum
# -----------
# A run to a certified gap of 1e-10 gives the optimum to nearly ten digits.

optimum = minimize(problem, make("lbfgs"), stop=[CertifiedGap(1e-10)]).certificate.objective
print(f"{features.n_weights} weights, optimum {optimum:.6f}")

# %%
# Runs
# ----
# ``watch`` is evaluated outside the solvers' clock.

NAMES = ("auto", "lbfgs", "sag", "sgd")
watch = {"distance": lambda weights: problem.value(weights) / optimum - 1.0}
traces = {name: minimize(problem, make(name), stop=[MaxPasses(40)], watch=watch).trace for name in NAMES}

print("passes", *(f"{name:>10}" for name in NAMES))
for passes in (5, 10, 20, 40):
    reached = ([row for row in trace if row["passes"] <= passes][-1] for trace in traces.values())
    print(f"{passes:6}", *(f"{row['distance']:10.1e}" for row in reached))

# %%
# Curves
# ------
# ``sag`` leads for the first ten passes; ``auto`` leads from then on. The first passes of ``sgd``
# calibrate its step size.

curves = {
    name: [([row["passes"] for row in trace], [row["distance"] for row in trace])] for name, trace in traces.items()
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ConvergenceDisplay(curves, y="suboptimality", floor=1e-10).plot(ax)
plt.show()

# %%
# Your own data
# -------------
# ``fastcrf compare`` runs solvers on a column file and plots interactive curves (:doc:`/how-to/compare-solvers`):
#
# .. code-block:: shell
#
#     fastcrf compare train.txt --dev dev.txt --figure curves.html
