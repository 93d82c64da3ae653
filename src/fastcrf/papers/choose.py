"""Step sizes by whole runs: which are yet to be tried, and which was the best.

Step sizes are tried outwards from the middle until the best one has a worse neighbor on either side, with the first
seed; other options follow, each with the best step size. Every trial is a run of its own, so that none is part of
another's curve. The best is the one with the lowest objective at the end; a run that diverged is the worst.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastcrf.core.types import NOTHING
from fastcrf.lab.experiment import Penalty
from fastcrf.papers.experiment import TOY_ETAS, Curve
from fastcrf.papers.records import Key, Record, make_key

Options = Mapping[str, Any]
ETA = "eta"
ENDED_BADLY = ("diverged", "failed")


class Choice:
    """The trials of a curve on a set with a penalty, as far as they were run."""

    def __init__(self, curve: Curve, name: str, penalty: Penalty, seed: int | None, toy: bool = False) -> None:
        self.curve, self.name, self.penalty, self.seed = curve, name, penalty, seed
        self.etas = curve.etas[:TOY_ETAS] if toy else curve.etas

    def trials(self, newest: Mapping[Key, Record]) -> list[Options]:
        """Options of which the curve's own are a part, to be run in this order; more may follow when they are known."""
        if not self.etas:
            return [{**self.curve.options, **more} for more in self.curve.others or (NOTHING,)]
        tried = [eta for eta in self.etas if self.end(self.with_eta(eta), newest) is not None]
        return self._more_etas(tried, newest) or self._others(tried, newest)

    def _more_etas(self, tried: list[float], newest: Mapping[Key, Record]) -> list[Options]:
        if not tried:
            nearest = min(self.etas, key=lambda eta: abs(math.log(eta / self.curve.first)))
            return [self.with_eta(nearest)]
        k = self.etas.index(self._best_eta(tried, newest))
        beside = [self.etas[near] for near in (k - 1, k + 1) if 0 <= near < len(self.etas)]
        return [self.with_eta(eta) for eta in beside if eta not in tried]

    def _others(self, tried: list[float], newest: Mapping[Key, Record]) -> list[Options]:
        best = self.with_eta(self._best_eta(tried, newest))
        return [{**best, **more} for more in self.curve.others if self.end({**best, **more}, newest) is None]

    def _best_eta(self, tried: list[float], newest: Mapping[Key, Record]) -> float:
        return min(tried, key=lambda eta: self.end(self.with_eta(eta), newest) or 0.0)

    def with_eta(self, eta: float) -> Options:
        return {**self.curve.options, ETA: eta}

    def end(self, options: Options, newest: Mapping[Key, Record]) -> float | None:
        """The objective at the end of a trial; infinity if it ended badly, None if it was not run."""
        record = newest.get(make_key(self.name, self.penalty, self.curve.label, options, self.seed))
        return None if record is None else end_of(record)

    def ranked(self, newest: Mapping[Key, Record]) -> list[Options]:
        """The options of all trials, best first."""
        own = [
            record
            for key, record in newest.items()
            if key[:4] == (self.name, *self.penalty, self.curve.label)
            and key[5] == self.seed
            and self.belongs(record["options"])
        ]
        return [record["options"] for record in sorted(own, key=end_of)]

    def belongs(self, options: Options) -> bool:
        """Whether options are a trial of the curve: a curve that was declared anew leaves older rows behind."""
        fixed = {name: value for name, value in self.curve.options.items() if not self._varies(name)}
        known = {
            *self.curve.options,
            *(name for more in self.curve.others for name in more),
            *([ETA] if self.etas else ()),
        }
        return options.keys() <= known and all(options.get(name) == value for name, value in fixed.items())

    def _varies(self, name: str) -> bool:
        return any(name in more for more in self.curve.others)


def end_of(record: Record) -> float:
    rows = record["rows"]
    if not rows or record["status"] in ENDED_BADLY or rows[-1].get("objective") is None:
        return math.inf
    return float(rows[-1]["objective"])
