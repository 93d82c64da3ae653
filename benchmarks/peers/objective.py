"""The L2-regularized log-likelihood of a linear-chain CRF, in benchopt's form."""

from benchmark_utils.judge import Judge
from benchopt import BaseObjective


class Objective(BaseObjective):
    """Minimize the sum of -log p(y | x) plus c2 |w|^2, with a weight for every attribute and label."""

    name = "L2-regularized CRF"
    url = "https://github.com/fastcrf/fastcrf"
    min_benchopt_version = "1.6"
    sampling_strategy = "iteration"
    requirements = ["pip::fastcrf"]
    parameters = {"c2": [1.0]}

    def set_data(self, rows, labels):
        self.rows, self.labels = rows, labels
        self.judge = Judge(rows, labels, self.c2)
        self.lowest, self.accuracy = self.judge.optimum()

    def get_objective(self):
        return {"rows": self.rows, "labels": self.labels, "c2": self.c2}

    def evaluate_result(self, model):
        """Evaluate the model that a library wrote; every library is judged by the same code."""
        value = self.judge.objective(model)
        return {"value": value - self.lowest, "objective": value, "relative_gap": value / self.lowest - 1.0}

    def get_one_result(self):
        from fastcrf import CRF

        return {"model": CRF(c2=self.c2).fit(self.rows, self.labels).model_}
