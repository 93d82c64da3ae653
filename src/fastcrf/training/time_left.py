"""An estimate of how much of a run is done and how long the rest takes, from its rows and its stopping rules."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, NamedTuple

from fastcrf.stopping import CertifiedGap, MaxIterations, MaxPasses, MaxSeconds
from fastcrf.training.trace import Row

FIRST_GAP = 1.0  # a larger certified gap carries no information
LIMITED = {MaxIterations: "step", MaxPasses: "passes", MaxSeconds: "seconds"}  # the column that each rule limits


class Estimate(NamedTuple):
    """share: how much is done, 0 to 1; seconds: until the end. None: unknown."""

    share: float | None = None
    seconds: float | None = None


class TimeLeft:
    """The rule that will end the run first decides.

    Certified gaps fall about exponentially: the rate since half of the time that has passed predicts the rest.
    """

    def __init__(self, stop: Iterable[Any] = ()) -> None:
        rules = list(stop)
        self.tol = next((rule.tol for rule in rules if isinstance(rule, CertifiedGap) and rule.tol > 0.0), None)
        self.limits = [(LIMITED[type(rule)], rule.limit) for rule in rules if type(rule) in LIMITED]
        self.gaps: list[tuple[float, float]] = []  # wall seconds, logarithm of the gap

    def add(self, row: Row) -> None:
        """Take note of a row; it costs next to nothing."""
        gap = row["relative_gap"]
        if gap is not None and 0.0 < gap <= FIRST_GAP:
            self.gaps.append((row["wall"], math.log(gap)))

    def estimate(self, row: Row) -> Estimate:
        """Return the estimate at the newest row."""
        estimates = [at_limit(row["wall"], row[column], limit) for column, limit in self.limits]
        if self.tol is not None:
            estimates.append(self._at_gap(math.log(self.tol)) if self.gaps else Estimate(0.0))
        times = [each.seconds for each in estimates if each.seconds is not None]
        return Estimate(max((each.share or 0.0 for each in estimates), default=None), min(times, default=None))

    def _at_gap(self, goal: float) -> Estimate:
        (_, first), (now, lowest) = self.gaps[0], self.gaps[-1]
        share = (first - lowest) / max(first - goal, 1e-9)
        then, before = self.gaps[min(bisect_left(self.gaps, (0.5 * now,)), len(self.gaps) - 1)]
        rate = (before - lowest) / (now - then) if now > then else 0.0
        return Estimate(min(1.0, max(0.0, share)), max(0.0, (lowest - goal) / rate) if rate > 0.0 else None)


def at_limit(wall: float, spent: float, limit: float) -> Estimate:
    share = min(1.0, spent / limit) if limit else 1.0
    return Estimate(share, wall * (1.0 - share) / share if share > 0.0 else None)


def in_words(seconds: float | None) -> str:
    """Return a duration as `0:42 left`, or nothing if it is not known."""
    if not seconds or not seconds < 100 * 3600:
        return ""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"
