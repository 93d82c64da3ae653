"""Lipschitz constants of the sequences' gradients: their estimates, and the step size and sampling that follow from
them.

One constant for all sequences (schmidt2015, Algorithm 1) or one for each (section 5), told apart by the number of
estimates: with a single one, largest and mean are the same and the step size below is Algorithm 1's 1 / (L + lambda).

    first visit    L_i = first * mean L (the very first: 1)
    later visits   L_i = again * L_i, then the search of ray_search.py
    every step     L_i = fade * L_i for the shared constant
    skipping       after xi searches in a row that needed no doubling, the next 2^(xi - 1) visits do not search (5.2)
    step size      1/2 (1 / (max L + lambda) + 1 / (mean L + lambda)); the text of section 5 omits lambda, Algorithm 1
                   does not
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.draws.sampling import build_trees, draw_mixture, leaves_of, mixture_probability, set_leaf
from fastcrf.kernel import kernel, means
from fastcrf.solvers.average_gradient import rule as visiting

LONGEST_REST = 40  # of the exponent of 2: beyond any number of visits


class Constants(NamedTuple):
    """Estimates, what is known of each sequence, and the rule's numbers."""

    estimates: np.ndarray  # [N], or [1] shared by all sequences
    seen: np.ndarray  # [N] uint8
    successes: np.ndarray  # [N] searches in a row without a doubling
    rests: np.ndarray  # [N] visits still to come without a search
    sums: np.ndarray  # tree over the estimates of seen sequences
    maxima: np.ndarray  # tree over the same
    n_seen: np.ndarray  # [1]
    first: float
    again: float
    fade: float
    skipping: bool
    share: float  # of draws that are uniform; the others follow the estimates
    caution: float  # divides the step size

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ("estimates", "seen", "successes", "rests")}

    def restore(self, memory: Mapping[str, Any]) -> None:
        for name, array in self.state().items():
            array[:] = memory[name]
        rebuild(self)


def make_constants(
    n_sequences: int,
    shared: bool,
    start: float,
    *,
    first: float = 1.0,
    again: float = 1.0,
    fade: float = 1.0,
    skipping: bool = False,
    share: float = 1.0,
    caution: float = 1.0,
) -> Constants:
    n = 1 if shared else n_sequences
    constants = Constants(
        estimates=np.full(n, start),
        seen=np.zeros(n_sequences, np.uint8),
        successes=np.zeros(n_sequences, np.int64),
        rests=np.zeros(n_sequences, np.int64),
        sums=np.zeros(2 * leaves_of(n)),
        maxima=np.zeros(2 * leaves_of(n)),
        n_seen=np.zeros(1, np.int64),
        first=first,
        again=again,
        fade=fade,
        skipping=skipping,
        share=share,
        caution=caution,
    )
    rebuild(constants)
    return constants


def one_constant(n_sequences: int, start: float, caution: float = 1.0) -> Constants:
    """One for all sequences, drawn uniformly: schmidt2015, Algorithm 1."""
    return make_constants(n_sequences, True, start, fade=2.0 ** (-1.0 / n_sequences), caution=caution)


def known_constant(n_sequences: int, constant: float, caution: float = 1.0) -> Constants:
    """One for all sequences, drawn uniformly, that is known: no visit searches."""
    constants = make_constants(n_sequences, True, constant, caution=caution)
    constants.seen[:] = 1
    constants.rests[:] = np.iinfo(np.int64).max
    rebuild(constants)
    return constants


def own_constants(n_sequences: int, start: float, skipping: bool, caution: float = 1.0) -> Constants:
    """One for each sequence, half of the draws by them: schmidt2015, section 5 (NUS*)."""
    return make_constants(
        n_sequences, False, start, first=0.5, again=0.9, skipping=skipping, share=0.5, caution=caution
    )


def rebuild(constants: Constants) -> None:
    """Trees and counts from the estimates and visits. Writes: constants.sums, .maxima, .n_seen."""
    shared = len(constants.estimates) < len(constants.seen)
    known = constants.estimates if shared else constants.estimates * constants.seen
    build_trees(known, constants.sums, constants.maxima)
    constants.n_seen[0] = constants.seen.sum()


@kernel
def mean_estimate(constants):
    """Mean over the sequences seen so far, or the shared constant."""
    return constants.sums[1] / max(1, min(constants.n_seen[0], len(constants.estimates)))


@means(visiting.draw, Constants)
def draw(constants, u, lam):
    return draw_mixture(u, constants.share, len(constants.seen), constants.sums)


@means(visiting.probability, Constants)
def probability(constants, i, lam):
    return mixture_probability(i, constants.share, len(constants.seen), constants.sums)


@means(visiting.step_size, Constants)
def step_size(constants, lam):
    return 0.5 / constants.caution * (1.0 / (constants.maxima[1] + lam) + 1.0 / (mean_estimate(constants) + lam))


@means(visiting.place_of, Constants)
def place_of(constants, i):
    return i if len(constants.estimates) > 1 else 0


@means(visiting.begin_visit, Constants)
def begin_visit(constants, i):
    k = visiting.place_of(constants, i)
    if not constants.seen[i]:
        if len(constants.estimates) > 1 and constants.n_seen[0] > 0:
            constants.estimates[k] = constants.first * mean_estimate(constants)
        return True
    if constants.rests[i] > 0:
        constants.rests[i] -= 1
        return False
    constants.estimates[k] *= constants.again
    return True


@means(visiting.is_guess, Constants)
def is_guess(constants, i):
    return constants.n_seen[0] == 0


@means(visiting.end_visit, Constants)
def end_visit(constants, i, trials):
    if not constants.seen[i]:  # the search of a first visit starts from a guess and proves nothing about later ones
        constants.seen[i] = 1
        constants.n_seen[0] += 1
    elif constants.skipping and trials > 0:
        constants.successes[i] = constants.successes[i] + 1 if trials == 1 else 0
        if constants.successes[i] > 0:
            constants.rests[i] = 1 << min(constants.successes[i] - 1, LONGEST_REST)
    refresh_leaf(constants, i)


@means(visiting.fade, Constants)
def fade(constants, i):
    if constants.fade != 1.0:
        constants.estimates[visiting.place_of(constants, i)] *= constants.fade
        refresh_leaf(constants, i)


@kernel
def refresh_leaf(constants, i):
    """Writes: constants.sums, constants.maxima."""
    k = visiting.place_of(constants, i)
    set_leaf(k, constants.estimates[k], constants.sums, constants.maxima)
