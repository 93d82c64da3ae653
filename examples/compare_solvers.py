"""How far from the optimum is each solver after so many passes over the data?

python examples/compare_solvers.py
"""

from __future__ import annotations

from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.features.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers import make
from fastcrf.stopping import CertifiedGap, MaxPasses
from fastcrf.training.driver import minimize

tokens, labels = make_addresses(400, random_state=0)
corpus, attributes, classes = encode_training([address_items(address) for address in tokens], labels)
features = build_feature_map(corpus, len(attributes), len(classes))
problem = Problem(corpus, features, c1=0.0, c2=1.0)
optimum = minimize(problem, make("lbfgs"), stop=[CertifiedGap(1e-10)]).certificate.objective

NAMES = ("lbfgs", "sag", "sgd")
watch = {"distance": lambda weights: problem.value(weights) / optimum - 1.0}  # evaluated outside the solvers' clock
traces = [minimize(problem, make(name), stop=[MaxPasses(40)], watch=watch).trace for name in NAMES]

print("passes", *(f"{name:>10}" for name in NAMES))
for passes in (5, 10, 20, 40):
    reached = ([row for row in trace if row["passes"] <= passes][-1] for trace in traces)
    print(f"{passes:6}", *(f"{row['distance']:10.1e}" for row in reached))
