"""Parse the messages of training: CRFsuite's log, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
TOTAL = re.compile(r"Total seconds required for training: (\d+\.\d+)")
N_FEATURES = re.compile(r"Number of features: (\d+)")
NUMBERS: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "loss": (re.compile(r"Loss: (\d+\.\d+)"), float),
    "feature_norm": (re.compile(r"Feature norm: (\d+\.\d+)"), float),
    "error_norm": (re.compile(r"Error norm: (\d+\.\d+)"), float),
    "active_features": (re.compile(r"Active features: (\d+)"), int),
    "linesearch_trials": (re.compile(r"Line search trials: (\d+)"), int),
    "linesearch_step": (re.compile(r"Line search step: (\d+\.\d+)"), float),
    "time": (re.compile(r"Seconds required for this iteration: (\d+\.\d+)"), float),
}
MEANS = re.compile(r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
LABEL = re.compile(r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \(([\d.]+|\*{6}), ([\d.]+|\*{6}), ([\d.]+|\*{6})\)")
OF_THE_NEXT_LINE = ("prepared", "optimization_end")  # events that are noticed one line late


class LabelScore(NamedTuple):
    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """Fed with one message after another, it says which event each completes, and keeps the numbers."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []  # name, first message, message after the last

    def feed(self, line: str) -> str | None:
        """Return the event that this message completes, if any."""
        self.log.append(line)
        event = self._read(line)
        if event is not None:
            start = self.events[-1][2] if self.events else 0
            self.events.append((event, start, len(self.log) - (event in OF_THE_NEXT_LINE)))
        return event

    @property
    def last_log(self) -> str:
        """Return the messages of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def _read(self, line: str) -> str | None:
        first = self.state is None
        event = getattr(self, f"_read_{(self.state or 'starting').lower()}")(line)
        return "start" if first else event

    def _read_starting(self, line: str) -> None:
        self.state = "FEATGEN" if line.startswith("Feature generation") else "STARTING"

    def _read_featgen(self, line: str) -> str | None:
        if line == "." or line.isdigit():
            self.featgen_percent += 2
            return "featgen_progress"
        if found := N_FEATURES.match(line):
            self.featgen_num_features = int(found[1])
        if found := SECONDS.match(line):
            self.featgen_seconds = float(found[1])
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _read_after_featgen(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def _read_iteration(self, line: str) -> str | None:
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        assert self.last_iteration is not None
        for key, (pattern, kind) in NUMBERS.items():
            if found := pattern.match(line):
                self.last_iteration[key] = kind(found[1])
        self._read_holdout(line, self.last_iteration)
        return None

    def _read_holdout(self, line: str, iteration: dict[str, Any]) -> None:
        if found := MEANS.match(line):
            keys = ("avg_precision", "avg_recall", "avg_f1")
            iteration |= dict(zip(keys, map(float, found.groups()), strict=True))
        if found := ACCURACY.match(line):
            key = f"{found[1].lower()}_accuracy"
            share = Fraction(int(found[2]), int(found[3]) or 1)
            iteration |= {key: share, f"{key}_float": float(share)}
        if found := LABEL.match(line):
            label, *numbers = found.groups()
            scores = [None if "*" in text else float(text) for text in numbers[3:]]
            iteration["scores"][label] = LabelScore(*map(int, numbers[:3]), *scores)

    def _read_after_iteration(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return None
        if found := TOTAL.match(line):
            self.training_seconds = float(found[1])
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _read_storing(self, line: str) -> str | None:
        if found := SECONDS.match(line):
            self.storing_seconds = float(found[1])
        return "end" if line == "\n" else None

    def _begins_iteration(self, line: str) -> bool:
        found = HEAD.match(line)
        if found:
            self.state = "ITERATION"
            self.last_iteration = {"num": int(found[1]), "scores": {}}
            self.iterations.append(self.last_iteration)
        return found is not None
