"""The rule of SAGA with given probabilities (schmidt2015, Proposition 1a): draws by fixed p_i > 0, one constant L.

    step size      n min p / (4 (L + lambda) + n lambda)
    every visit    where L is searched: the search of ray_search.py, the first time down from a bound
    every step     where L is searched: L = 2^(-1/n) L, as in Algorithm 1

All sequences are known from the start: their gradients are stored before the first draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.draws.sampling import build_sums, find_leaf, leaves_of
from fastcrf.kernel import means
from fastcrf.solvers.average_gradient import rule as visiting
from fastcrf.types import Floats


class GivenProbabilities(NamedTuple):
    """L, and how to draw."""

    estimates: np.ndarray  # [1]
    searched: np.ndarray  # [1] uint8: whether L is more than a bound
    sums: np.ndarray  # tree over the p_i
    seen: np.ndarray  # [N] uint8: always all of them
    n_seen: np.ndarray  # [1]
    smallest: float  # of the p_i
    searching: bool
    keep: float  # of L, after a step

    def state(self) -> dict[str, np.ndarray]:
        return {"estimates": self.estimates, "searched": self.searched}

    def restore(self, memory: Mapping[str, Any]) -> None:
        for name, array in self.state().items():
            array[:] = memory[name]


def given_probabilities(probabilities: Floats, lipschitz: float, searching: bool) -> GivenProbabilities:
    """Draws in proportion to `probabilities`; `lipschitz` bounds L: the search for it starts there."""
    n = len(probabilities)
    sums = np.zeros(2 * leaves_of(n))
    build_sums(probabilities / probabilities.sum(), sums)
    return GivenProbabilities(
        estimates=np.full(1, lipschitz),
        searched=np.zeros(1, np.uint8),
        sums=sums,
        seen=np.ones(n, np.uint8),
        n_seen=np.full(1, n),
        smallest=float(probabilities.min() / probabilities.sum()),
        searching=searching,
        keep=2.0 ** (-1.0 / n) if searching else 1.0,
    )


@means(visiting.draw, GivenProbabilities)
def draw(rule, u, lam):
    return find_leaf(u * rule.sums[1], rule.sums)


@means(visiting.probability, GivenProbabilities)
def probability(rule, i, lam):
    return rule.sums[len(rule.sums) // 2 + i] / rule.sums[1]


@means(visiting.place_of, GivenProbabilities)
def place_of(rule, i):
    return 0


@means(visiting.begin_visit, GivenProbabilities)
def begin_visit(rule, i):
    return rule.searching


@means(visiting.is_guess, GivenProbabilities)
def is_guess(rule, i):
    return rule.searched[0] == 0


@means(visiting.end_visit, GivenProbabilities)
def end_visit(rule, i, trials):
    if trials > 0:
        rule.searched[0] = 1


@means(visiting.step_size, GivenProbabilities)
def step_size(rule, lam):
    n = rule.n_seen[0]
    return n * rule.smallest / (4.0 * (rule.estimates[0] + lam) + n * lam)


@means(visiting.fade, GivenProbabilities)
def fade(rule, i):
    rule.estimates[0] *= rule.keep
