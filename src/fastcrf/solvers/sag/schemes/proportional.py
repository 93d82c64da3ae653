"""The scheme of SAGA with two samples (Schmidt et al. 2015, Proposition 1b): samples in proportion to L_i + lambda.

    sample         in proportion to L_i + lambda: uniformly with probability lambda / (mean L + lambda), else in
                   proportion to L_i
    step size      1 / (4 (mean L + lambda))
    visits         where the L_i are searched: as in NUS* (lipschitz.py), the first time down from a bound

All blocks count as seen from the start: their gradients are stored before the first sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.solvers.sag.schemes import lipschitz, scheme
from fastcrf.solvers.sag.schemes.lipschitz import (
    Constants,
    begin_search,
    end_visit_of_constants,
    make_constants,
    mean_estimate,
    set_estimate,
)
from fastcrf.stochastic.sampling import mixture_probability, sample_mixture

STATE_FIELDS = lipschitz.STATE_FIELDS | {"searched": StateField("sequences", "uint8", low=0, high=1)}


class Proportional(NamedTuple):
    """The constants as in NUS*, and a flag for each that a search has confirmed."""

    constants: Constants
    searched: np.ndarray  # [B] uint8
    searching: bool

    @property
    def seen(self) -> np.ndarray:
        return self.constants.seen

    def state(self) -> dict[str, np.ndarray]:
        return {**self.constants.state(), "searched": self.searched}

    def rebuild(self) -> None:
        self.constants.rebuild()


def proportional(bounds: Floats, searching: bool) -> Proportional:
    """Return the scheme. `bounds` are the L_i, or the start of the searches for them."""
    constants = make_constants(len(bounds), False, 1.0)._replace(again=0.9, skipping=True)
    constants.estimates[:] = bounds
    constants.seen[:] = 1
    constants.rebuild()
    return Proportional(constants, np.zeros(len(bounds), np.uint8), searching)


@scheme.sample.register(Proportional)
def sample_in_proportion(proportional, u, lam):
    constants = proportional.constants
    n, mean = len(constants.seen), mean_estimate(constants)
    share = lam / (mean + lam) if mean > 0.0 else 1.0  # of uniform samples
    i = sample_mixture(u, share, n, constants.sums)
    return i, mixture_probability(i, share, n, constants.sums)


@scheme.begin_visit.register(Proportional)
def begin_visit_in_proportion(proportional, i):
    constants = proportional.constants
    if not proportional.searching:
        return False, constants.estimates[i], False
    searching, L = begin_search(constants, i)
    return searching, L, proportional.searched[i] == 0


@scheme.end_visit.register(Proportional)
def end_visit_in_proportion(proportional, i, L, trials):
    if proportional.searched[i]:
        return end_visit_of_constants(proportional.constants, i, L, trials)
    if trials > 0:  # the first search starts from a bound and does not predict later ones
        proportional.searched[i] = 1
        set_estimate(proportional.constants, i, L)
    return False


@scheme.step_size.register(Proportional)
def step_size_in_proportion(proportional, lam):
    return 0.25 / (mean_estimate(proportional.constants) + lam)


@scheme.fade.register(Proportional)
def fade_none(proportional, i):
    """Do nothing: individual constants do not fade."""
