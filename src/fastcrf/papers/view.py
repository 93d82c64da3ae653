"""Rows as claims and pages read them: the runs of a curve with its best step size, and what they reached when."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from fastcrf.lab.experiment import Penalty
from fastcrf.papers.choose import Choice
from fastcrf.papers.experiment import OPTIMUM, Curve, Row, Study
from fastcrf.papers.records import Book, Record, whole_of
from fastcrf.papers.runs import PROBE, first_seed

SLACK = 0.005  # of a mark: a Step within an epoch ends after a whole number of sequences, a little beyond it


class View:
    """The records of the studies that an item looks at."""

    def __init__(self, studies: Sequence[Study], books: dict[str, Book]) -> None:
        self.studies, self.books = studies, books
        self.parts = {name: self.part(name) for study in studies for name in study.sets}
        self.touched: set[str] = set()  # sets of which something was asked
        self.whole = False  # whether reduced sets are left out

    def part(self, name: str) -> str:
        """What is shown of a set: the part of it on which most curves were run, the whole set if there are several."""
        curves: dict[str, set[str]] = {name: set()}
        for record in self.records():
            if whole_of(record["set"])[0] == name:
                curves.setdefault(record["set"], set()).add(record["curve"])
        return max(curves, key=lambda part: (len(curves[part]), part == name))

    def reduced(self) -> dict[str, int]:
        """The sets of which only the first sequences are shown, with their numbers."""
        numbers = {name: whole_of(part)[1] for name, part in self.parts.items()}
        return {name: number for name, number in numbers.items() if number is not None}

    def curves(self, name: str) -> list[Curve]:
        """The curves of a set, in the order of the studies."""
        return [curve for study in self.studies if name in study.sets for curve in study.on(name)]

    def records(self) -> Iterable[Record]:
        return (record for study in self.studies for record in self.books[study.name].records)

    def probe(self, name: str, study: str) -> Row | None:
        """What a study measured of a set itself."""
        found = [record for record in self.books[study].records if record["set"] == name and record["curve"] == PROBE]
        return found[-1]["rows"][0] if found else None

    def runs(self, name: str, label: str, c: float | None = None, rank: int = 0) -> list[Record]:
        """The runs of a curve on a set, one for each seed, with the options that are first (or second) best.

        c: c1 + c2 of the penalty, where a study has several.
        """
        self.touched.add(name)
        if self.whole and name in self.reduced():
            return []
        for study in self.studies:
            curve = next((each for each in study.to_run(name) if each.label == label), None)
            if curve is None or name not in study.sets:
                continue
            for penalty in study.penalties:
                asked = c in (None, sum(penalty))
                part, own = self.parts[name], curve.penalty or penalty
                found = self.runs_of(study, curve, part, own, rank) if asked else []
                if found:
                    return found
        return []

    def runs_of(self, study: Study, curve: Curve, name: str, penalty: Penalty, rank: int) -> list[Record]:
        newest = self.books[study.name].newest
        options = Choice(curve, name, penalty, first_seed(curve)).ranked(newest)
        if len(options) <= rank:
            return []
        asked = name, *penalty, curve.label
        own = [each for key, each in newest.items() if key[:4] == asked and each["options"] == options[rank]]
        return [record for record in own if record["rows"]]

    def optimum(self, name: str, c: float | None = None) -> float | None:
        """The lowest objective of any run on a set."""
        labels = [OPTIMUM.label, *(curve.label for curve in self.curves(name))]
        ends = [row["objective"] for label in labels for record in self.runs(name, label, c) for row in record["rows"]
                if row.get("objective") is not None]  # fmt: skip
        return min(ends, default=None)

    def gap(self, name: str, row: Row, c: float | None = None) -> float:
        """The distance to the optimum, relative to it."""
        optimum = self.optimum_once(name, c)
        if optimum is None or row.get("objective") is None:
            return math.nan
        return max(0.0, row["objective"] - optimum) / abs(optimum)

    def optimum_once(self, name: str, c: float | None) -> float | None:
        kept: dict[tuple[str, float | None], float | None] = self.__dict__.setdefault("optima", {})
        if (name, c) not in kept:
            kept[name, c] = self.optimum(name, c)
        return kept[name, c]

    def spent(self, name: str, label: str, gap: float, x: str = "passes", c: float | None = None) -> list[float]:
        """What each run of a curve spent until it came within a gap; infinity if it never did."""
        found = []
        for record in self.runs(name, label, c):
            near = (row for row in record["rows"] if self.gap(name, row, c) <= gap)
            found.append(float(next(near, {x: math.inf})[x]))
        return found

    def until(self, name: str, label: str, y: str, value: float, x: str, rising: bool = False) -> list[float]:
        """What each run spent until y was at most `value`, or at least where it is `rising`."""
        found = []
        for record in self.runs(name, label):
            there = (row for row in record["rows"] if y in row and (row[y] >= value if rising else row[y] <= value))
            found.append(float(next(there, {x: math.inf})[x]))
        return found

    def values(
        self, name: str, label: str, y: str, at: float | None = None, c: float | None = None, rank: int = 0
    ) -> list[float]:
        """A column of each run at its end, or at the last row that has spent no more than `at` passes."""
        found = []
        for record in self.runs(name, label, c, rank):
            rows = [row for row in record["rows"] if at is None or row["passes"] <= at * (1.0 + SLACK)]
            if rows and (y in rows[-1] or y in DERIVED):
                found.append(self.value(name, rows[-1], y, record, c))
        return found

    def lowest(self, name: str, label: str, at: float) -> list[float]:
        """The distance to the optimum after so many passes with the step size that is best there, of the first seed."""
        found = []
        for rank in range(len(self.trials(name, label))):
            found += self.values(name, label, "excess", at, rank=rank)[:1]
        return [min(found)] if found else []

    def trials(self, name: str, label: str) -> set[str]:
        """The options that ran on a set."""
        asked = self.parts[name], label
        return {str(each["options"]) for each in self.records() if (each["set"], each["curve"]) == asked}

    def value(self, name: str, row: Row, y: str, record: Record, c: float | None = None) -> float:
        """A column of a row, or what is derived of it."""
        n = record["facts"]["sequences"]
        if y == "excess":  # the papers' objective is a mean
            optimum = self.optimum_once(name, c)
            return math.nan if optimum is None or "objective" not in row else max(0.0, row["objective"] - optimum) / n
        if y in ("mean_objective", "likelihood"):
            sign = 1.0 if y == "mean_objective" else -1.0
            return sign * row["objective"] / n if "objective" in row else math.nan
        if y in ("accuracy", "train_accuracy"):
            return 100.0 * (1.0 - row.get(y.replace("accuracy", "error"), math.nan))
        return float(row.get(y, math.nan))


DERIVED = ("excess", "mean_objective", "likelihood", "accuracy", "train_accuracy")


def middle(values: Sequence[float]) -> float | None:
    """The median, where none is None."""
    return statistics.median(values) if values else None
