"""The rule of SAG-NUS: sequences not seen yet come first, the others by their Lipschitz constants.

Schmidt, Le Roux & Bach (2013), section 5.5. With m of n sequences seen and mean L over those:

    draw           with probability (n - m) / n the next unseen one of a random order, else a seen one in proportion to
                   L_i + mean L + 2 lambda
    first visit    L_i as it starts;   later visits   L_i = L_i / 2, then the search of ray_search.py
    largest        max L = max(max L, L_i), and after every step max L = 2^(-1/n) max L
    step size      (n - m)/n / (max L + lambda) + m/n (1/2 / (max L + lambda) + 1/2 / (mean L + lambda))

The weights of the draw change with the mean, but they are a mixture of two fixed ones, so that a tree over L_i will do:
a share (mean L + 2 lambda) / (2 mean L + 2 lambda) of the draws is uniform, the others are in proportion to L_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.draws.sampling import build_sums, draw_unseen_first, leaves_of, set_sum, unseen_first_probability
from fastcrf.kernel import kernel, means
from fastcrf.solvers.average_gradient import rule as visiting


class UnseenFirst(NamedTuple):
    """Estimates, what is known of each sequence, and the order in which they are seen first."""

    estimates: np.ndarray  # [N]
    seen: np.ndarray  # [N] uint8
    largest: np.ndarray  # [1] the running, fading maximum
    order: np.ndarray  # [N] the sequences seen are order[:n_seen]
    sums: np.ndarray  # tree over the estimates of seen sequences
    n_seen: np.ndarray  # [1]
    keep: float  # of the maximum, after a step

    def state(self) -> dict[str, np.ndarray]:
        return {"estimates": self.estimates, "seen": self.seen, "largest": self.largest}

    def restore(self, memory: Mapping[str, Any]) -> None:
        for name, array in self.state().items():
            array[:] = memory[name]
        build_sums(self.estimates * self.seen, self.sums)
        self.n_seen[0] = self.seen.sum()


def unseen_first(order: np.ndarray, start: float) -> UnseenFirst:
    n = len(order)
    return UnseenFirst(
        estimates=np.full(n, start),
        seen=np.zeros(n, np.uint8),
        largest=np.full(1, start),
        order=order,
        sums=np.zeros(2 * leaves_of(n)),
        n_seen=np.zeros(1, np.int64),
        keep=2.0 ** (-1.0 / n),
    )


@kernel
def mean_of_seen(rule):
    """Mean estimate of the sequences seen so far."""
    return rule.sums[1] / max(1, rule.n_seen[0])


@kernel
def uniform_share(rule, lam):
    """Of the draws among seen sequences."""
    mean = mean_of_seen(rule)
    if mean == 0.0:
        return 1.0
    return 0.5 * (mean + 2.0 * lam) / (mean + lam)


@means(visiting.draw, UnseenFirst)
def draw(rule, u, lam):
    return draw_unseen_first(u, rule.order, rule.n_seen[0], uniform_share(rule, lam), rule.sums)


@means(visiting.probability, UnseenFirst)
def probability(rule, i, lam):
    share = uniform_share(rule, lam)
    return unseen_first_probability(i, rule.order, rule.n_seen[0], rule.seen[i], share, rule.sums)


@means(visiting.place_of, UnseenFirst)
def place_of(rule, i):
    return i


@means(visiting.begin_visit, UnseenFirst)
def begin_visit(rule, i):
    if rule.seen[i]:
        rule.estimates[i] *= 0.5
    return True


@means(visiting.is_guess, UnseenFirst)
def is_guess(rule, i):
    return rule.n_seen[0] == 0


@means(visiting.end_visit, UnseenFirst)
def end_visit(rule, i, trials):
    if not rule.seen[i]:
        rule.seen[i] = 1
        rule.n_seen[0] += 1
    rule.largest[0] = max(rule.largest[0], rule.estimates[i])
    set_sum(i, rule.estimates[i], rule.sums)


@means(visiting.step_size, UnseenFirst)
def step_size(rule, lam):
    n, m = len(rule.estimates), rule.n_seen[0]
    shortest = 1.0 / (rule.largest[0] + lam)
    if m == 0:
        return shortest
    return (n - m) / n * shortest + 0.5 * m / n * (shortest + 1.0 / (mean_of_seen(rule) + lam))


@means(visiting.fade, UnseenFirst)
def fade(rule, i):
    rule.largest[0] *= rule.keep
