"""The scheme of SAGA with given probabilities (Schmidt et al. 2015, Proposition 1a): fixed p_i > 0, one constant L.

    step size      n min p / (4 (L + lambda) + n lambda)
    every visit    where L is searched: the search of lipschitz_search.py, the first time down from a bound
    every step     where L is searched: L = 2^(-1/n) L, as in Algorithm 1

All blocks count as seen from the start: their gradients are stored before the first sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats
from fastcrf.solvers.sag.schemes import scheme
from fastcrf.stochastic.sampling import build_sums, find_leaf, leaves_of

STATE_FIELDS = {
    "estimates": StateField(fill=1.0, low=0.0, n_axes=1),
    "searched": StateField(dtype="uint8", low=0, high=1, n_axes=1),
}


class GivenProbabilities(NamedTuple):
    """L, and the sampling probabilities."""

    estimates: np.ndarray  # [1]
    searched: np.ndarray  # [1] uint8: whether L comes from a search, not a bound
    sums: np.ndarray  # tree over the p_i
    seen: np.ndarray  # [B] uint8: always 1
    smallest: float  # of the p_i
    searching: bool
    keep: float  # of L, after a step

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in STATE_FIELDS}

    def rebuild(self) -> None:
        """Do nothing: no array follows from L."""


def given_probabilities(probabilities: Floats, lipschitz: float, searching: bool) -> GivenProbabilities:
    """Return the scheme with samples in proportion to `probabilities`; a search for L starts at `lipschitz`,
    its bound.
    """
    n = len(probabilities)
    sums = np.zeros(2 * leaves_of(n))
    build_sums(probabilities / probabilities.sum(), sums)
    return GivenProbabilities(
        estimates=np.full(1, lipschitz),
        searched=np.zeros(1, np.uint8),
        sums=sums,
        seen=np.ones(n, np.uint8),
        smallest=float(probabilities.min() / probabilities.sum()),
        searching=searching,
        keep=2.0 ** (-1.0 / n) if searching else 1.0,
    )


@scheme.sample.register(GivenProbabilities)
def sample_as_given(given, u, lam):
    i = find_leaf(u * given.sums[1], given.sums)
    return i, given.sums[len(given.sums) // 2 + i] / given.sums[1]


@scheme.begin_visit.register(GivenProbabilities)
def begin_visit_as_given(given, i):
    return given.searching, given.estimates[0], given.searched[0] == 0


@scheme.end_visit.register(GivenProbabilities)
def end_visit_as_given(given, i, L, trials):
    if trials > 0:
        given.estimates[0] = L
        given.searched[0] = 1
    return False


@scheme.step_size.register(GivenProbabilities)
def step_size_as_given(given, lam):
    n = len(given.seen)
    return n * given.smallest / (4.0 * (given.estimates[0] + lam) + n * lam)


@scheme.fade.register(GivenProbabilities)
def fade_as_given(given, i):
    given.estimates[0] *= given.keep
