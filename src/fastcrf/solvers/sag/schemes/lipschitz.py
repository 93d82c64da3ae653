"""Lipschitz constants of the blocks' gradients: their estimates, the samples and the step size.

There is one constant for all (Schmidt et al. 2015, Algorithm 1) or one for each (section 5), distinguished by the
number of estimates: with a single one, largest and mean are equal and the step size below is Algorithm 1's 1 / (L +
lambda).

    sample         with probability `share` uniformly, else in proportion to L_i (the share is 1 for a single L)
    first visit    L_i = first * mean L (the very first: as it starts)
    later visits   L_i = again * L_i, then the search of lipschitz_search.py
    every step     L_i = keep * L_i for the single L
    skipping       after xi searches in a row that needed no doubling, the next 2^(xi - 1) visits do not search (5.2)
    step size      1/2 (1 / (max L + lambda) + 1 / (mean L + lambda)); the text of section 5 omits lambda, Algorithm 1
                   does not
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.solvers.sag.schemes import scheme
from fastcrf.solvers.sag.schemes.scheme import ESTIMATES, SEEN
from fastcrf.stochastic.sampling import build_trees, leaves_of, mixture_probability, sample_mixture, set_leaf

LONGEST_REST = 40  # of the exponent of 2: more than any number of visits
STATE_FIELDS = {
    "estimates": ESTIMATES,
    "seen": SEEN,
    "successes": StateField("sequences", "int64", low=-1),
    "rests": StateField("sequences", "int64", low=0),
}


class Constants(NamedTuple):
    """The estimates, the state of each block, and the numbers of the scheme."""

    estimates: np.ndarray  # [B], or [1] shared by all
    seen: np.ndarray  # [B] uint8
    successes: np.ndarray  # [B] searches in a row without a doubling
    rests: np.ndarray  # [B] remaining visits without a search
    sums: np.ndarray  # tree over the estimates of seen blocks
    maxima: np.ndarray  # tree over the same
    n_seen: np.ndarray  # [1]
    first: float = 1.0
    again: float = 1.0
    keep: float = 1.0
    skipping: bool = False
    share: float = 1.0
    step_divisor: float = 1.0  # divides the step size

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in STATE_FIELDS}

    def rebuild(self) -> None:
        shared = len(self.estimates) < len(self.seen)
        build_trees(self.estimates if shared else self.estimates * self.seen, self.sums, self.maxima)
        self.n_seen[0] = self.seen.sum()


def make_constants(n_blocks: int, shared: bool, start: float) -> Constants:
    """Return one estimate, or one for each block; no block is seen."""
    n = 1 if shared else n_blocks
    constants = Constants(
        estimates=np.full(n, start),
        seen=np.zeros(n_blocks, np.uint8),
        successes=np.zeros(n_blocks, np.int64),
        rests=np.zeros(n_blocks, np.int64),
        sums=np.zeros(2 * leaves_of(n)),
        maxima=np.zeros(2 * leaves_of(n)),
        n_seen=np.zeros(1, np.int64),
    )
    constants.rebuild()
    return constants


def one_constant(n_blocks: int, start: float, step_divisor: float = 1.0) -> Constants:
    """Return one constant for all blocks, sampled uniformly: Schmidt et al. (2015), Algorithm 1."""
    return make_constants(n_blocks, True, start)._replace(keep=2.0 ** (-1.0 / n_blocks), step_divisor=step_divisor)


def known_constant(n_blocks: int, constant: float, step_divisor: float = 1.0) -> Constants:
    """Return one known constant for all blocks, sampled uniformly: no visit searches."""
    constants = make_constants(n_blocks, True, constant)._replace(step_divisor=step_divisor)
    constants.seen[:] = 1
    constants.rests[:] = np.iinfo(np.int64).max
    constants.rebuild()
    return constants


def own_constants(n_blocks: int, start: float, skipping: bool, step_divisor: float = 1.0) -> Constants:
    """Return one constant for each block, half of the samples by them: Schmidt et al. (2015), section 5 (NUS*)."""
    constants = make_constants(n_blocks, False, start)
    return constants._replace(first=0.5, again=0.9, skipping=skipping, share=0.5, step_divisor=step_divisor)


@noalloc_kernel
def mean_estimate(constants):
    """Return the mean over the blocks seen so far, or the shared constant."""
    return constants.sums[1] / max(1, min(constants.n_seen[0], len(constants.estimates)))


@noalloc_kernel
def place_of(constants, i):
    """Return the place of the estimate of block i."""
    return i if len(constants.estimates) > 1 else 0


@scheme.sample.register(Constants)
def sample_by_constants(constants, u, lam):
    n, share = len(constants.seen), constants.share
    i = sample_mixture(u, share, n, constants.sums)
    return i, mixture_probability(i, share, n, constants.sums)


@noalloc_kernel
def begin_search(constants, i):
    """Return (whether to search, L to start from), by the visits so far. Writes: constants.rests."""
    L = constants.estimates[place_of(constants, i)]
    if not constants.seen[i]:
        if len(constants.estimates) > 1 and constants.n_seen[0] > 0:
            L = constants.first * mean_estimate(constants)
        return True, L
    if constants.rests[i] > 0:
        constants.rests[i] -= 1
        return False, L
    return True, constants.again * L


@scheme.begin_visit.register(Constants)
def begin_visit_of_constants(constants, i):
    searching, L = begin_search(constants, i)
    return searching, L, constants.n_seen[0] == 0


@scheme.end_visit.register(Constants)
def end_visit_of_constants(constants, i, L, trials):
    new = not constants.seen[i]
    if not new and trials == 0:  # flat, or not searched: L decreases to the mean at most, not without end
        L = max(L, min(constants.estimates[place_of(constants, i)], mean_estimate(constants)))
    if new:  # the search of a first visit starts from a guess and does not predict later ones
        constants.seen[i] = 1
        constants.n_seen[0] += 1
    elif constants.skipping and trials > 0:
        constants.successes[i] = constants.successes[i] + 1 if trials == 1 else 0
        if constants.successes[i] > 0:
            constants.rests[i] = 1 << min(constants.successes[i] - 1, LONGEST_REST)
    set_estimate(constants, i, L)
    return new


@scheme.step_size.register(Constants)
def step_size_by_constants(constants, lam):
    return 0.5 / constants.step_divisor * (1.0 / (constants.maxima[1] + lam) + 1.0 / (mean_estimate(constants) + lam))


@scheme.fade.register(Constants)
def fade_constants(constants, i):
    if constants.keep != 1.0:
        set_estimate(constants, i, constants.keep * constants.estimates[place_of(constants, i)])


@noalloc_kernel
def set_estimate(constants, i, L):
    """Set the estimate of block i. Writes: constants.estimates, .sums, .maxima."""
    k = place_of(constants, i)
    constants.estimates[k] = L
    set_leaf(k, L, constants.sums, constants.maxima)
