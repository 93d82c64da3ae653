"""The training log as users of python-crfsuite know it, from `trainer.logparser` or `sklearn_crfsuite`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fastcrf.training.trace import Row, Trace

# Column of a row -> key of python-crfsuite's iteration dict. What a solver or a run does not know is left out.
KEYS = {
    "step": "num",
    "objective_estimate": "loss",
    "objective": "loss",
    "online_objective": "loss",  # what CRFsuite's l2sgd logs; it takes precedence
    "training_loss": "loss",  # and what its ap, pa and arow do
    "gradient_norm": "error_norm",
    "non_zeros": "active_features",
    "trials": "linesearch_trials",
    "step_size": "linesearch_step",
    "dev_accuracy": "item_accuracy_float",
}


@dataclass(frozen=True)
class TrainingLog:
    """What python-crfsuite reads from the trainer's output, made from the rows of a run."""

    featgen_num_features: int
    training_seconds: float
    iterations: list[dict[str, Any]]

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        return self.iterations[-1] if self.iterations else None


def training_log(trace: Trace, n_features: int) -> TrainingLog:
    """The log of a run; an iteration is a step after the start, `time` its own seconds."""
    steps = [row for row in trace if "restored_step" not in row]  # going back to the best weights is no iteration
    iterations = [iteration(row) | {"time": row["seconds"] - before["seconds"]} for before, row in pairwise(steps)]
    return TrainingLog(n_features, trace[-1]["seconds"], iterations)


def iteration(row: Row) -> dict[str, Any]:
    return {key: row[column] for column, key in KEYS.items() if row.get(column) is not None}
