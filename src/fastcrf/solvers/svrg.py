"""Stochastic variance-reduced gradient (SVRG) with a line search for the Lipschitz constant.

Johnson & Zhang (2013), "Accelerating stochastic gradient descent using predictive variance reduction", NIPS.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    repeat
        w~ <- w;  g_i <- grad nll_i(w~) for all i;  d <- sum_i g_i                       (a snapshot)
        M times:  draw i uniformly;  g <- grad nll_i(w)
                  L by Algorithm 2 of schmidt2015;  a <- 1 / (L + lambda)
                  w <- (1 - a lambda) w - a [ g - g_i + d/n ]
                  L <- 2^(-1/n) L

A Step is M draws and the snapshot that follows, so that it has the exact objective and gradient of its weights. The g_i
are stored (as marginals), so that a draw evaluates one gradient instead of the paper's two.

Differs from the paper: the penalty is exact instead of a part of each g_i; the step size is searched, as in `sag`. The
next w~ is the last w (the paper's option I).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.epochs.snapshots import SnapshotRun
from fastcrf.parts.lipschitz import all_seen, one_constant
from fastcrf.solvers.options import check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class SVRG:
    """inner_passes: M / n; caution: divides the step size; first_lipschitz: where the search starts; seed: of draws."""

    name: ClassVar[str] = "svrg"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    inner_passes: float = 2.0
    caution: float = 1.0
    first_lipschitz: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for option in ("inner_passes", "caution", "first_lipschitz"):
            check_positive(self.name, option, getattr(self, option))
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        n = problem.n_sequences
        rule = all_seen(one_constant(n, self.first_lipschitz, self.caution))
        run = SnapshotRun(problem, weights, memory, rule, self.seed, max(1, round(self.inner_passes * n)))
        yield run.step() if memory else run.run_period()
        while True:
            yield run.run_period()
