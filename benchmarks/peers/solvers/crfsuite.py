"""CRFsuite's L-BFGS, through python-crfsuite."""

import os
import tempfile

import pycrfsuite
from benchmark_utils.tables import as_items
from benchopt import BaseSolver

from fastcrf import Model


class Solver(BaseSolver):
    """Okazaki (2007)."""

    name = "crfsuite"
    requirements = ["pip::python-crfsuite"]

    def set_objective(self, rows, labels, c2):
        self.data, self.c2 = list(zip(as_items(rows), labels, strict=True)), c2

    def run(self, n_iter):
        parameters = {
            "c2": self.c2, "max_iterations": max(1, n_iter), "delta": 1e-12, "epsilon": 1e-12,
            "feature.possible_states": True, "feature.possible_transitions": True,
        }  # fmt: skip
        trainer = pycrfsuite.Trainer("lbfgs", parameters, verbose=False)
        for items, labels in self.data:
            trainer.append(items, labels)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.crfsuite")
            trainer.train(path)
            self.model = Model.load(path)

    def get_result(self):
        return {"model": self.model}
