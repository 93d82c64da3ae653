"""The rule of SAGA with two samples (schmidt2015, Proposition 1b): draws in proportion to L_i + lambda.

    draw           in proportion to L_i + lambda: uniformly with probability lambda / (mean L + lambda), else in
                   proportion to L_i
    step size      1 / (4 (mean L + lambda))
    visits         where the L_i are searched: as in NUS* (lipschitz.py), the first time down from a bound

All sequences are known from the start: their gradients are stored before the first draw.
"""

from __future__ import annotations

from fastcrf.draws.sampling import draw_mixture, mixture_probability
from fastcrf.kernel import kernel, means
from fastcrf.solvers.average_gradient import lipschitz
from fastcrf.solvers.average_gradient import rule as visiting
from fastcrf.solvers.average_gradient.lipschitz import Constants, make_constants, mean_estimate, rebuild
from fastcrf.types import Floats

FOR_EVER = 1 << 62  # visits


class Proportional(Constants):
    """The arrays of Constants; `successes` is -1 before the first search, `share` is not used."""

    __slots__ = ()


def proportional(bounds: Floats, searching: bool) -> Proportional:
    """`bounds` are the L_i, or where the searches for them start."""
    rule = Proportional(*make_constants(len(bounds), False, 1.0, again=0.9, skipping=True))
    rule.estimates[:] = bounds
    rule.seen[:] = 1
    rule.successes[:] = -1
    rule.rests[:] = 0 if searching else FOR_EVER
    rebuild(rule)
    return rule


@kernel
def uniform_share(rule, lam):
    """Of the draws."""
    mean = mean_estimate(rule)
    return lam / (mean + lam) if mean > 0.0 else 1.0


@means(visiting.draw, Proportional)
def draw(rule, u, lam):
    return draw_mixture(u, uniform_share(rule, lam), len(rule.seen), rule.sums)


@means(visiting.probability, Proportional)
def probability(rule, i, lam):
    return mixture_probability(i, uniform_share(rule, lam), len(rule.seen), rule.sums)


@means(visiting.step_size, Proportional)
def step_size(rule, lam):
    return 0.25 / (mean_estimate(rule) + lam)


@means(visiting.is_guess, Proportional)
def is_guess(rule, i):
    return rule.successes[i] < 0


for verb in (visiting.place_of, visiting.begin_visit, visiting.end_visit):
    means(verb, Proportional)(getattr(lipschitz, verb.__name__))
