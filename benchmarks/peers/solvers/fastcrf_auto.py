"""fastcrf's default algorithm."""

import warnings

from benchmark_utils.tables import as_items
from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning

from fastcrf import CRF


class Solver(BaseSolver):
    """`auto`, and the L-BFGS that the other libraries use."""

    name = "fastcrf"
    requirements = ["pip::fastcrf"]
    parameters = {"algorithm": ["auto", "lbfgs"]}

    def set_objective(self, rows, labels, c2):
        self.data = as_items(rows), labels
        self.c2 = c2

    def warm_up(self):
        self.run(2)  # compiles

    def run(self, n_iter):
        crf = CRF(
            self.algorithm, c2=self.c2, all_possible_states=True, all_possible_transitions=True, tol=1e-8,
            max_iterations=max(1, n_iter), n_jobs=1,
        )  # fmt: skip
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # it ends at n_iter on purpose
            self.model = crf.fit(*self.data).model_

    def get_result(self):
        return {"model": self.model}
