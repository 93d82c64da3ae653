"""A trainer that prints each iteration on one line."""

from __future__ import annotations

from typing import Any

from fastcrf.compat.pycrfsuite import Trainer

__all__ = ["LinePerIterationTrainer"]

COLUMNS = {
    "time": "time={:<5.2f}",
    "loss": "loss={:<8.2f}",
    "active_features": "active={:<5}",
    "avg_precision": "precision={:0.3f}",
    "avg_recall": "recall={:0.3f}",
    "avg_f1": "F1={:0.3f}",
    "item_accuracy_float": "Acc(item/seq)={:0.3f}",
    "instance_accuracy_float": "{:0.3f}",
    "feature_norm": "feature_norm={:<8.2f}",
}


class LinePerIterationTrainer(Trainer):
    """Prints a line for each iteration and, where there are held-out data, a table of the labels at the end."""

    def on_iteration(self, log: str, info: Any) -> None:
        parts = [form.format(info[name]) for name, form in COLUMNS.items() if name in info]
        print("  ".join([f"Iter {info['num']:<3}", *parts]).strip())

    def on_optimization_end(self, log: str) -> None:
        last = self.logparser.last_iteration if self.logparser else None
        if last and last["scores"]:
            print(table(last["scores"]))
        super().on_optimization_end(log)


def table(scores: dict[str, Any]) -> str:
    """Return precision, recall, F1 and the number of items of each label, in columns."""
    width = max(5, *map(len, scores))
    lines = [f"{'Label':{width}}  Precision  Recall     F1  Support"]
    for label, score in sorted(scores.items()):
        three = (0.0 if value is None else value for value in (score.precision, score.recall, score.f1))
        lines.append("{:{}}  {:9.3f}  {:6.3f}  {:5.3f}  {:7}".format(label, width, *three, score.ref))
    return "\n".join(["=" * len(lines[0]), *lines, "-" * len(lines[0])])
