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

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import OptionError
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import (
    check_choice,
    check_number,
    check_positive,
    check_seed,
    check_truth,
    check_whole,
    seed_of,
)
from fastcrf.solvers.sgd import run
from fastcrf.solvers.sgd.calibration import RECIPES, calibrate
from fastcrf.solvers.sgd.ngd.bregman_updates import LOSSES, UPDATES, Coefficients, OfDivergence, coefficients_of
from fastcrf.solvers.sgd.ngd.convex_functions import Arctan, Erf, Gd, Power, WholeArctan, tabulate
from fastcrf.solvers.sgd.ngd.natural_descent import natural_descent
from fastcrf.solvers.sgd.run import Run, start_of
from fastcrf.solvers.sgd.schedules import Bottou

FUNCTIONS = ("g1", "g2", "g3", "p")
NAMES = tuple(f"{update}.{function}" for update in (*UPDATES, *LOSSES) for function in FUNCTIONS)
INFINITE = ("u4.p", *(f"{loss}.p" for loss in LOSSES))  # G'' is taken where it need not be 0 or finite


def check_coefficients(name: str, given: Sequence[float]) -> Coefficients:
    """Return (a, b, c, d); raise `OptionError` if their loss is not lowest where expected and observed counts agree."""
    try:
        a, b, c, d = (float(number) for number in given)
    except (TypeError, ValueError):
        a = b = c = d = math.nan
    if not abs((a - b) - (c - d)) <= 1e-12 * (abs(a) + abs(b) + abs(c) + abs(d)) or a == c:
        message = f"{name}: coefficients must be four numbers a, b, c, d with a - b = c - d and a != c; got {given!r}."
        raise OptionError(message, name, "coefficients", given)
    return a, b, c, d


@solver
class NGD:
    """Train with approximate natural gradient descent on f-divergences.

    Parameters
    ----------
    update
        Update U1 to U6 of the paper with a convex function, "g1", "g2", "g3" or "p", such as "u2.g1"; or the loss whose
        natural gradient is the update, B1 to B4, such as "b1.g1", or "b.g1", with `coefficients`.
    epsilon
        Parameter of g1.
    alpha
        Parameter of g2.
    beta
        Parameter of g3.
    p
        Exponent of the function |u|^p / p.
    gamma
        Of the losses B1 to B4: the share of the expected counts on one side of the divergence.
    coefficients
        Of the loss "b", B(a E - b O, c E - d O): the numbers a, b, c, d, with a - b = c - d (footnote 1).
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

    update: str = "u2.g1"
    epsilon: float = 0.1
    alpha: float = 5.0 * math.sqrt(math.pi)
    beta: float = 10.0
    p: float = 2.0
    gamma: float = 1.0
    coefficients: Sequence[float] = (1.0, 0.0, 0.0, -1.0)
    granularity: str = "sequence"
    eta: float | None = None
    calibration: str = "crfsuite"
    samples: int = 1000
    seed: int | None = None
    steps_per_epoch: int = 1
    table: bool = True

    def __post_init__(self) -> None:
        check_choice(self.name, "update", self.update, NAMES)
        for option in ("epsilon", "alpha", "beta", "p"):
            check_positive(self.name, option, getattr(self, option))
        if self.p <= 1.0:
            message = f"{self.name}: p must be above 1, so that |u|^p / p has a derivative at 0; got p={self.p!r}."
            raise OptionError(message, self.name, "p", self.p)
        if self.update in INFINITE and self.p < 2.0:
            message = (
                f"{self.name}: p must be at least 2 for {self.update}, which is otherwise infinite at 0; "
                f"got p={self.p!r}."
            )
            raise OptionError(message, self.name, "p", self.p)
        check_number(self.name, "gamma", self.gamma)
        object.__setattr__(self, "coefficients", check_coefficients(self.name, self.coefficients))
        check_choice(self.name, "granularity", self.granularity, ("sequence", "position"))
        check_choice(self.name, "calibration", self.calibration, RECIPES)
        if self.eta is not None:
            check_positive(self.name, "eta", self.eta)
        check_whole(self.name, "samples", self.samples, 1)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)
        check_truth(self.name, "table", self.table)
        if self.function == Power(2.0):  # Euclidean: psi(u) is in proportion to u for every update
            object.__setattr__(self, "guarantee", "near the optimum")

    @property
    def function(self) -> Any:
        """Return G, one of convex_functions.py."""
        kinds = {"g1": (Arctan, self.epsilon), "g2": (Erf, self.alpha), "g3": (Gd, self.beta), "p": (Power, self.p)}
        update, name = self.update.split(".")
        kind, constant = (WholeArctan, self.epsilon) if name == "g1" and update in LOSSES else kinds[name]
        return kind(float(constant))  # an integer would be another type to the compiler

    def transformation(self) -> Any:
        """Return the update with its function, one of bregman_updates.py."""
        looked_up = self.table and not isinstance(self.function, Power)  # if p = 2 the result must equal sgd exactly
        function, kind = tabulate(self.function) if looked_up else self.function, self.update.split(".")[0]
        if kind in UPDATES:
            return UPDATES[kind](function)
        numbers = self.coefficients if kind == "b" else coefficients_of(kind, float(self.gamma))
        return OfDivergence(*numbers, function)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        update = self.transformation()
        descent = natural_descent(problem, start_of(weights, state), update, self.granularity == "position")
        run = Run(self.name, problem, state, descent, seed=seed_of(self), steps=self.steps_per_epoch)

        def rates(eta: float) -> Bottou:
            return Bottou(eta, descent.lam)

        yield run.step()
        run.eta = run.eta or self.eta or calibrate(run, self.calibration, rates, self.samples)
        while True:
            yield run.run_epoch(rates(run.eta))
