"""The scheme of SAG-NUS: unseen blocks first, the others by their Lipschitz constants.

Schmidt, Le Roux & Bach (2013), section 5.5. With m of n blocks seen and mean L over those:

    sample         with probability (n - m) / n the next unseen one of a random order, else a seen one in proportion to
                   L_i + mean L + 2 lambda
    first visit    L_i as it starts;   later visits   L_i = L_i / 2, then the search of lipschitz_search.py
    largest        max L = max(max L, L_i), and after every step max L = 2^(-1/n) max L
    step size      (n - m)/n / (max L + lambda) + m/n (1/2 / (max L + lambda) + 1/2 / (mean L + lambda))

The sampling weights change with the mean, but they are a convex combination of two fixed ones, so a tree over L_i
suffices: a share (mean L + 2 lambda) / (2 mean L + 2 lambda) of the samples is uniform, the others are in proportion to
L_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.solvers.sag.schemes import scheme
from fastcrf.solvers.sag.schemes.scheme import ESTIMATES, SEEN
from fastcrf.stochastic.sampling import build_sums, leaves_of, sample_unseen_first, set_sum, unseen_first_probability

STATE_FIELDS = {"estimates": ESTIMATES, "seen": SEEN, "largest": StateField(low=0.0, n_axes=1)}


class UnseenFirst(NamedTuple):
    """The estimates, the state of each block, and the order of first visits."""

    estimates: np.ndarray  # [B]
    seen: np.ndarray  # [B] uint8
    largest: np.ndarray  # [1] the running, fading maximum
    order: np.ndarray  # [B] the blocks seen are order[:n_seen]
    sums: np.ndarray  # tree over the estimates of seen blocks
    n_seen: np.ndarray  # [1]
    keep: float  # of the maximum, after a step
    step_divisor: float  # divides the step size

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in STATE_FIELDS}

    def rebuild(self) -> None:
        build_sums(self.estimates * self.seen, self.sums)
        self.n_seen[0] = self.seen.sum()


def unseen_first(order: np.ndarray, start: float, step_divisor: float = 1.0) -> UnseenFirst:
    n = len(order)
    return UnseenFirst(
        estimates=np.full(n, start),
        seen=np.zeros(n, np.uint8),
        largest=np.full(1, start),
        order=order,
        sums=np.zeros(2 * leaves_of(n)),
        n_seen=np.zeros(1, np.int64),
        keep=2.0 ** (-1.0 / n),
        step_divisor=step_divisor,
    )


@noalloc_kernel
def mean_of_seen(unseen):
    """Return the mean estimate of the blocks seen so far."""
    return unseen.sums[1] / max(1, unseen.n_seen[0])


@scheme.sample.register(UnseenFirst)
def sample_an_unseen_one_first(unseen, u, lam):
    mean, n_seen = mean_of_seen(unseen), unseen.n_seen[0]
    share = 0.5 * (mean + 2.0 * lam) / (mean + lam) if mean > 0.0 else 1.0  # of uniform samples among those seen
    i = sample_unseen_first(u, unseen.order, n_seen, share, unseen.sums)
    return i, unseen_first_probability(i, unseen.order, n_seen, unseen.seen[i], share, unseen.sums)


@scheme.begin_visit.register(UnseenFirst)
def begin_visit_of_unseen_first(unseen, i):
    L = unseen.estimates[i] * (0.5 if unseen.seen[i] else 1.0)
    return True, L, unseen.n_seen[0] == 0


@scheme.end_visit.register(UnseenFirst)
def end_visit_of_unseen_first(unseen, i, L, trials):
    new = not unseen.seen[i]
    if not new and trials == 0:  # flat: L decreases to the mean at most, not without end
        L = max(L, min(unseen.estimates[i], mean_of_seen(unseen)))
    if new:
        unseen.seen[i] = 1
        unseen.n_seen[0] += 1
    unseen.estimates[i] = L
    unseen.largest[0] = max(unseen.largest[0], L)
    set_sum(i, L, unseen.sums)
    return new


@scheme.step_size.register(UnseenFirst)
def step_size_of_unseen_first(unseen, lam):
    n, m = len(unseen.estimates), unseen.n_seen[0]
    shortest = 1.0 / unseen.step_divisor / (unseen.largest[0] + lam)
    if m == 0:
        return shortest
    longer = 1.0 / unseen.step_divisor / (mean_of_seen(unseen) + lam)
    return (n - m) / n * shortest + 0.5 * m / n * (shortest + longer)


@scheme.fade.register(UnseenFirst)
def fade_largest(unseen, i):
    unseen.largest[0] *= unseen.keep
