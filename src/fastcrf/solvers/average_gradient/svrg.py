"""Stochastic variance-reduced gradient (SVRG) with a line search for the Lipschitz constant.

Johnson & Zhang (2013), "Accelerating stochastic gradient descent using predictive variance reduction", NIPS; Xiao &
Zhang (2014), "A proximal stochastic gradient method with progressive variance reduction", SIAM Journal on Optimization.

Minimises   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    repeat
        w~ <- w;  g_i <- grad nll_i(w~) for all i;  d <- sum_i g_i                       (a snapshot)
        M times:  draw i with probability p_i;  g <- grad nll_i(w)
                  L's by Algorithm 2 of schmidt2015;  a <- step size from the L's
                  w <- (1 - a lambda) w - a [ (g - g_i) / (n p_i) + d/n ]

`sampling="uniform"`, Johnson & Zhang's: p_i = 1/n, one L for all sequences and a = 1 / (L + lambda), as in `sag`.
`sampling="nus"`: an L_i for each, p_i = 1/2 1/n + 1/2 L_i / sum L, and a from the largest and the mean L_i, as in
`sag-nus-star`, whose skipping of searches makes a draw cost little more than one evaluation instead of two.

A Step is M draws and the snapshot that follows, so that it has the exact objective and gradient of its weights. The g_i
are stored, in the smallest form (draws/storage.py), so that a draw evaluates one gradient instead of the paper's
two.

Measured with c2 = 0.5, in effective passes: on the OCR letters "nus" comes within 1e-2, 1e-4 and 1e-8 of the optimum
after 22, 52 and 160 (three seeds), "uniform" after 51, 176 and more than 600. With M = n, "nus" takes 22, 62 and 201;
on CoNLL-2000 it is within 1.2 and 1.6 % after 61 passes (two seeds), with M = 2n within 0.7 and 0.9 %: hence the
default. With caution 2, the 52 passes become 88.

Differs from the papers: the penalty is exact instead of a part of each g_i; the L's are searched and the step is SAG's;
Xiao & Zhang draw in proportion to L_i alone, which needs all L_i in advance. The next w~ is the last w (Johnson &
Zhang's option I).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.solvers.average_gradient.lipschitz import one_constant, own_constants
from fastcrf.solvers.average_gradient.snapshots import SnapshotRun
from fastcrf.solvers.options import check_choice, check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class SVRG:
    """sampling: uniform or nus; inner_passes: M / n; caution: divides the step size; first_lipschitz: where searches
    start; batch: sequences a draw (at most); seed: of the draws, and of what is drawn together.
    """

    name: ClassVar[str] = "svrg"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})

    sampling: str = "uniform"
    inner_passes: float = 2.0
    caution: float = 1.0
    first_lipschitz: float = 1.0
    batch: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.name, "sampling", self.sampling, ("uniform", "nus"))
        for option in ("inner_passes", "caution", "first_lipschitz"):
            check_positive(self.name, option, getattr(self, option))
        check_whole(self.name, "batch", self.batch, 1)
        check_whole(self.name, "seed", self.seed, 0)

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        n = -(-problem.n_sequences // self.batch)
        if self.sampling == "nus":
            rule = own_constants(n, self.first_lipschitz, skipping=True, caution=self.caution)
        else:
            rule = one_constant(n, self.first_lipschitz, self.caution)
        run = SnapshotRun(problem, weights, memory, rule, self.seed, max(1, round(self.inner_passes * n)))
        yield run.step() if memory else run.run_period()
        while True:
            yield run.run_period()
