"""CRFsuite through python-crfsuite, with the times that it reports for itself."""

from __future__ import annotations

from typing import Any

import pycrfsuite


class Recorder(pycrfsuite.Trainer):
    """A trainer that keeps what CRFsuite logs of each iteration, and prints nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: list[dict[str, Any]] = []

    def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
        self.rows.append(info)

    def on_start(self, log: Any) -> None: ...
    def on_featgen_progress(self, log: Any, percent: int) -> None: ...
    def on_featgen_end(self, log: Any) -> None: ...
    def on_prepared(self, log: Any) -> None: ...
    def on_prepare_error(self, log: Any) -> None: ...
    def on_optimization_end(self, log: Any) -> None: ...
    def on_end(self, log: Any) -> None: ...


def train(X: Any, y: Any, model: str = "", algorithm: str = "lbfgs", **parameters: Any) -> list[dict[str, Any]]:
    """Train and return the rows of the iterations: num, loss, time (seconds of the iteration), linesearch_trials ..."""
    trainer = Recorder(algorithm=algorithm, params=parameters, verbose=True)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.train(model)
    return trainer.rows


def seconds_per_evaluation(rows: list[dict[str, Any]]) -> float:
    """The least time of an iteration that needed one evaluation of objective and gradient."""
    return min(float(row["time"]) for row in rows[1:] if row["linesearch_trials"] == 1)


def seconds_to(rows: list[dict[str, Any]], target: float) -> float | None:
    """Cumulative seconds of the iterations until the loss is at most `target`; None if it never is."""
    spent = 0.0
    for row in rows:
        spent += float(row["time"])
        if row["loss"] <= target:
            return spent
    return None
