"""Claims of schmidt2015 about its family of solvers, held against rows of benchmarks/convergence.py.

A claim compares the effective passes that two solvers need to come within a gap of the optimum (medians over seeds). It
says between which bounds their ratio should lie; what counts as "like" is our reading, and stands here in numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.lab.summary import Comparison, median_cost
from fastcrf.lab.tables import table

GAPS = (1e-2, 1e-4, 1e-6, 1e-8)
SMALL_L, LARGE_L = "sag-nus-star:first_lipschitz=0.001", "sag-nus-star:first_lipschitz=1000.0"


class Claim(NamedTuple):
    """`one` needs between `least` and `most` times the passes of `other`."""

    sentence: str
    one: str
    other: str
    least: float
    most: float


LIKE = (1 / 1.5, 1.5)

CLAIMS = (
    Claim("NUS* needs no more passes than NUS", "sag-nus-star", "sag-nus", 0.0, 1.0),
    Claim("NUS needs no more passes than uniform draws", "sag-nus", "sag", 0.0, 1.0),
    Claim("SAGA with SAG's step is like SAG", "saga:caution=1", "sag", *LIKE),
    Claim("SAGA with its theory's step is like SAG", "saga", "sag", *LIKE),
    Claim("SAGA with NUS* and SAG's step is like SAG with NUS*", "saga-nus-star:caution=1", "sag-nus-star", *LIKE),
    Claim("SAGA with NUS* and its theory's step is like SAG with NUS*", "saga-nus-star", "sag-nus-star", *LIKE),
    Claim("SVRG is like SAG at half the speed", "svrg", "sag", 4 / 3, 3.0),
    Claim("SVRG is like SAG at half the speed, both with NUS*", "svrg:sampling=nus", "sag-nus-star", 4 / 3, 3.0),
    Claim("NUS* is ahead of L-BFGS", "sag-nus-star", "lbfgs", 0.0, 1.0),
    Claim("a first L of 0.001 instead of 1 does not matter", SMALL_L, "sag-nus-star", *LIKE),
    Claim("a first L of 1000 instead of 1 does not matter", LARGE_L, "sag-nus-star", *LIKE),
)

FAMILY = (
    "lbfgs", "accelerated-gradient", "sag", "sag-nus", "sag-nus-star", SMALL_L, LARGE_L, "saga", "saga:caution=1",
    "saga-nus", "saga-nus-star", "saga-nus-star:caution=1", "saga-nus-two-sample", "svrg", "svrg:sampling=nus", "emgd",
)  # fmt: skip


def in_words(comparisons: list[Comparison]) -> str:
    """Each claim with the ratios of passes on each dataset, and a verdict over all of them."""
    return "\n\n".join(judge(claim, comparisons) for claim in CLAIMS)


def judge(claim: Claim, comparisons: list[Comparison]) -> str:
    found = [[ratio(claim, comparison, gap) for gap in GAPS] for comparison in comparisons]
    head = ("dataset", *(f"{gap:.0e}" for gap in GAPS))
    lines = [
        [comparison.problem["dataset"], *("-" if math.isnan(r) else f"{r:.2f}" for r in ratios)]
        for comparison, ratios in zip(comparisons, found, strict=True)
    ]
    known = [r for ratios in found for r in ratios if not math.isnan(r)]
    within = sum(claim.least <= r <= claim.most for r in known)
    verdict = f"{within} of {len(known)} ratios are within {claim.least:.2g} .. {claim.most:.2g}"
    return f"{claim.sentence} (passes of {claim.one} / {claim.other}): {verdict}\n{table(head, lines)}"


def ratio(claim: Claim, comparison: Comparison, gap: float) -> float:
    """Infinite where `one` did not come within the gap, 0 where `other` did not, NaN where neither did or was run."""
    solvers = comparison.by_solver()
    if not {claim.one, claim.other} <= set(solvers):
        return math.nan
    one, other = (median_cost(solvers[name], gap, "passes") for name in (claim.one, claim.other))
    if one is None or other is None:
        return math.nan if one is other else math.inf if one is None else 0.0
    return one / other
