"""The objective of any library's model, evaluated by one and the same code, and the certified optimum.

F(w) = sum of -log p(y | x) + c2 |w|^2, with a weight for every attribute with every label and for every pair of labels.
"""

from __future__ import annotations

import numpy as np

from benchmark_utils.tables import Labels, Rows, as_items
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.model.model import Model
from fastcrf.objective.problem import Problem
from fastcrf.solvers import make
from fastcrf.stopping import CertifiedGap
from fastcrf.training.driver import minimize


class Judge:
    """The problem of a dataset with a penalty."""

    def __init__(self, rows: Rows, labels: Labels, c2: float, n_jobs: int = 1) -> None:
        corpus, attributes, classes = encode_training(as_items(rows), labels)
        self.names, self.classes = attributes.names(), [str(label) for label in classes]
        self.features = build_feature_map(
            corpus, len(attributes), len(self.classes), all_states=True, all_transitions=True
        )
        self.problem = Problem(corpus, self.features, 0.0, c2, n_jobs)

    def optimum(self, tol: float = 1e-8) -> tuple[float, float]:
        """Return the lowest objective known, and the certified relative gap to it."""
        certificate = minimize(self.problem, make("lbfgs", pairs=20), stop=[CertifiedGap(tol)]).certificate
        return certificate.objective, certificate.relative_gap

    def objective(self, model: Model) -> float:
        """Return F at the weights of a model; weights that its file leaves out are 0."""
        state = {
            (name[:1].upper() + name[1:], label): w for (name, label), w in model.state_features_.items()
        }  # Wapiti: u
        transitions = model.transition_features_
        weights = np.zeros(self.features.n_weights)
        names = self.names
        owners = np.repeat(np.arange(self.features.n_attributes), np.diff(self.features.offsets))
        for k, (attribute, label) in enumerate(zip(owners.tolist(), self.features.labels.tolist(), strict=True)):
            weights[k] = state.get((names[attribute], self.classes[label]), 0.0)
        pairs = zip(self.features.sources.tolist(), self.features.targets.tolist(), strict=True)
        for k, (before, after) in enumerate(pairs, self.features.n_state):
            weights[k] = transitions.get((self.classes[before], self.classes[after]), 0.0)
        return float(self.problem.value(weights))
