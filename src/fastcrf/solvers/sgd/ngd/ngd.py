"""Natural gradient descent on Bregman divergences: stochastic gradient descent with transformed gradients.

Cao (2015), "Training conditional random fields with natural gradient descent", arXiv:1508.02373.

Minimizes, for each sequence, a Bregman divergence between expected and observed features, measured by the model's own
metric, and (lambda/2) |w|^2, lambda = 2 c2 / n. It does not minimize a single function of the corpus.

    z <- 1, t <- 0                                                          Figure 2
    repeat
        for each sequence i in random order
            a <- eta / (1 + eta lambda t);   t <- t + 1
            u <- E[F(x_i, Y)] - F(x_i, y_i)
            w <- (1 - a lambda) w - a psi(u),    psi feature by feature:

            u1.g1    u / (u^2 + epsilon)               epsilon = 0.1
            u2.g1    arctan(u / sqrt(epsilon))         arctan.1: epsilon = 0.1;   arctan.2: epsilon = 0.01
            u2.g2    erf(alpha u)                      alpha = 5 sqrt(pi)
            u2.g3    gd(beta u)                        beta = 10
            u2.p     sign(u) |u|^(p - 1)               p = 2 is `sgd`, exactly

and every other pair of an update, u1 to u6, and a convex function, g1, g2, g3 or p (bregman_updates.py). Also the
natural gradients of the losses b1 to b4 for any gamma, and of footnote 1's loss b for any coefficients. A Step is one
epoch. The paper ends when the training data show no more improvement. `CRF` and the command line implement that as in
CRFsuite, on which the paper's program is built: `period` and `delta` of the online objective.

Differs from the paper: the step size is eta / (1 + eta lambda t) (Bottou, 2012), not its inverse, and a step is a, not
a / (1 - a): section 3.5 as printed has both errors. The SGD of the paper's comparison is CRFsuite's, `l2sgd`, which
shrinks the weights before the gradient step; p = 2 here is `sgd`, which does not. u is the sum over a sequence, as in
the equations; the bounds in the text hold with granularity="position".

With table=True (section 3.6), G' and G'' of g1, g2 and g3 are those at the nearest of 65,537 points of [-1, 1], and
computed for larger u, which occur in sums over a sequence; with table=False they are always computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive, check_seed, check_truth, check_whole, seed_of
from fastcrf.solvers.sgd import run
from fastcrf.solvers.sgd.calibration import RECIPES, calibrate
from fastcrf.solvers.sgd.ngd.natural_descent import natural_descent
from fastcrf.solvers.sgd.ngd.options import BregmanUpdate
from fastcrf.solvers.sgd.run import Run, start_of
from fastcrf.solvers.sgd.schedules import Bottou


@solver
class NGD(BregmanUpdate):
    """Train with approximate natural gradient descent on f-divergences.

    Parameters
    ----------
    granularity
        Unit of the divergence: "sequence" or "position".
    eta
        First step size; None: it is calibrated.
    calibration
        Calibration of the step size if `eta` is None: "crfsuite", "bottou", "powers" or "tsuboi".
    samples
        Sequences of a calibration run.
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    table
        Whether g1, g2 and g3 are read from a table, which is faster.
    """

    name: ClassVar[str] = "ngd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS

    granularity: str = "sequence"
    eta: float | None = None
    calibration: str = "crfsuite"
    samples: int = 1000
    seed: int | None = None
    steps_per_epoch: int = 1
    table: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "granularity", self.granularity, ("sequence", "position"))
        check_choice(self.name, "calibration", self.calibration, RECIPES)
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        check_whole(self.name, "samples", self.samples, 1)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)
        check_truth(self.name, "table", self.table)
        if self.euclidean:  # psi(u) = u for every update
            object.__setattr__(self, "guarantee", "near the optimum")

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        by_position = self.granularity == "position"
        descent = natural_descent(problem, start_of(weights, state), self.transformation(self.table), by_position)
        run = Run(self.name, problem, state, descent, seed=seed_of(self), steps=self.steps_per_epoch)

        def rates(eta: float) -> Bottou:
            return Bottou(eta, descent.lam)

        yield run.step()
        run.eta = run.eta or self.eta or calibrate(run, self.calibration, rates, self.samples)
        while True:
            yield run.run_epoch(rates(run.eta))
