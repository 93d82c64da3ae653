"""Step-size schedules, as arrays: `schedule.over(first, n)` are the step sizes of updates first .. first + n - 1.

Updates are counted from k = 0 over the entire run; a paper's t = 1, 2, ... is t = k + 1. N is the number of updates per
epoch (the number of sequences divided by the batch size).

    constant       eta
    sqrt           eta / sqrt(t)
    inverse        eta / (offset + t)
    epoch          eta / (1 + k / N)                  Collins et al. (2008); Tsuruoka et al. (2009), eq. 5;
                                                      Tsuboi et al. (2011)
    exponential    eta decay^(k / N)                  Tsuruoka et al. (2009), eq. 6 (printed without its sign)
                   + eta tail / (1 + k / N)           its footnote 3: with a tail, the steps sum to infinity
    bottou         eta / (1 + eta lambda k)           = 1 / (lambda (t0 + k)) with t0 = 1 / (lambda eta)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fastcrf.core.types import Floats


class Schedule(Protocol):
    """A rule for step sizes."""

    def over(self, first: int, n: int) -> Floats: ...


def counted(first: int, n: int) -> Floats:
    """Return k of the updates first .. first + n - 1."""
    return np.arange(first, first + n, dtype=np.float64)


@dataclass(frozen=True)
class Constant:
    eta: float

    def over(self, first: int, n: int) -> Floats:
        return np.full(n, float(self.eta))


@dataclass(frozen=True)
class InverseRoot:
    eta: float

    def over(self, first: int, n: int) -> Floats:
        return self.eta / np.sqrt(counted(first, n) + 1.0)


@dataclass(frozen=True)
class Inverse:
    eta: float
    offset: float

    def over(self, first: int, n: int) -> Floats:
        return self.eta / (self.offset + counted(first, n) + 1.0)


@dataclass(frozen=True)
class InverseEpoch:
    eta: float
    updates: int  # per epoch

    def over(self, first: int, n: int) -> Floats:
        return self.eta / (1.0 + counted(first, n) / self.updates)  # Tsuruoka et al. (2009), eq. 5


@dataclass(frozen=True)
class Exponential:
    eta: float
    decay: float
    updates: int  # per epoch
    tail: float = 0.0

    def over(self, first: int, n: int) -> Floats:
        epochs = counted(first, n) / self.updates
        return self.eta * (self.decay**epochs + self.tail / (1.0 + epochs))  # eq. 6 and footnote 3


@dataclass(frozen=True)
class Bottou:
    eta: float
    lam: float

    def over(self, first: int, n: int) -> Floats:
        return self.eta / (1.0 + self.eta * self.lam * counted(first, n))  # 1 / (lambda (t0 + k)), as in crfsgd


NAMES = ("constant", "sqrt", "inverse", "epoch", "exponential", "bottou")


def make_schedule(
    name: str, eta: float, lam: float, updates: int, offset: float = 1.0, decay: float = 1.0, tail: float = 0.0
) -> Schedule:
    """Return the schedule of that name, from the numbers that it uses; `updates` are per epoch."""
    schedules: dict[str, Schedule] = {
        "constant": Constant(eta),
        "sqrt": InverseRoot(eta),
        "inverse": Inverse(eta, offset),
        "epoch": InverseEpoch(eta, updates),
        "exponential": Exponential(eta, decay, updates, tail),
        "bottou": Bottou(eta, lam),
    }
    return schedules[name]
