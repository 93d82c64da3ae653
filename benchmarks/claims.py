"""Claims of schmidt2015 about its family of solvers, held against rows of benchmarks/convergence.py.

A claim compares the effective passes that two solvers need to come within a gap of the optimum (medians over seeds). It
says between which bounds their ratio should lie; what counts as "like" is our reading, and stands here in numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fastcrf.lab.summary import Comparison, median, median_cost
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
    Claim("SAGA with SAG's step is like SAG", "saga:step_divisor=1", "sag", *LIKE),
    Claim("SAGA with its theory's step is like SAG", "saga", "sag", *LIKE),
    Claim("SAGA with NUS* and SAG's step is like SAG with NUS*", "saga-nus-star:step_divisor=1", "sag-nus-star", *LIKE),
    Claim("SAGA with NUS* and its theory's step is like SAG with NUS*", "saga-nus-star", "sag-nus-star", *LIKE),
    Claim("SVRG is like SAG at half the speed", "svrg", "sag", 4 / 3, 3.0),
    Claim("SVRG is like SAG at half the speed, both with NUS*", "svrg:sampling=nus", "sag-nus-star", 4 / 3, 3.0),
    Claim("NUS* is ahead of L-BFGS", "sag-nus-star", "lbfgs", 0.0, 1.0),
    Claim("a first L of 0.001 instead of 1 does not matter", SMALL_L, "sag-nus-star", *LIKE),
    Claim("a first L of 1000 instead of 1 does not matter", LARGE_L, "sag-nus-star", *LIKE),
)

FAMILY = (
    "lbfgs", "accelerated-gradient", "sag", "sag-nus", "sag-nus-star", SMALL_L, LARGE_L, "saga", "saga:step_divisor=1",
    "saga-nus", "saga-nus-star", "saga-nus-star:step_divisor=1",
    "saga-two-samples", "svrg", "svrg:sampling=nus", "emgd",
)  # fmt: skip


def in_words(comparisons: list[Comparison]) -> str:
    """Each claim with the ratios of passes on each dataset, and a verdict over all of them."""
    return "\n\n".join(judge(claim, comparisons) for claim in CLAIMS)


class Ratio(NamedTuple):
    """What is known of a ratio: a run that ended before it came within the gap bounds it from one side only."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.2f}"
        return f">{self.low:.2f}" if self.high == math.inf else f"<{self.high:.2f}"


def judge(claim: Claim, comparisons: list[Comparison]) -> str:
    found = [[ratio(claim, comparison, gap) for gap in GAPS] for comparison in comparisons]
    lines = [
        [comparison.problem["dataset"], *("-" if ratio is None else str(ratio) for ratio in ratios)]
        for comparison, ratios in zip(comparisons, found, strict=True)
    ]
    known = [ratio for ratios in found for ratio in ratios if ratio is not None]
    within = sum(claim.least <= ratio.low and ratio.high <= claim.most for ratio in known)
    outside = sum(ratio.high < claim.least or ratio.low > claim.most for ratio in known)
    verdict = f"{within} ratios are within {claim.least:.2g} .. {claim.most:.2g}, {outside} are not"
    head = ("dataset", *(f"{gap:.0e}" for gap in GAPS))
    return f"{claim.sentence} (passes of {claim.one} / {claim.other}): {verdict}\n{table(head, lines)}"


def ratio(claim: Claim, comparison: Comparison, gap: float) -> Ratio | None:
    """None where one of the two did not run, or neither came within the gap."""
    solvers = comparison.by_solver()
    if claim.one not in solvers or claim.other not in solvers:
        return None
    one, other = solvers[claim.one], solvers[claim.other]
    until, until_other = median_cost(one, gap, "passes"), median_cost(other, gap, "passes")
    if until is not None and until_other is not None:
        return Ratio(until / until_other, until / until_other)
    if until_other is not None:
        return Ratio((median(one, "passes") or 0.0) / until_other, math.inf)
    return None if until is None else Ratio(0.0, until / (median(other, "passes") or math.nan))
