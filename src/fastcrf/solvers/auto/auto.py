"""The default: quasi-Newton with many curvature pairs, a diagonal preconditioner and, for long fits, an AdaGrad start.

L-BFGS after Liu & Nocedal (1989), "On the limited memory BFGS method for large scale optimization", Mathematical
Programming 45, pp. 503-528; its start and preconditioner after Duchi, Hazan & Singer (2011), "Adaptive subgradient
methods for online learning and stochastic optimization", JMLR 12, pp. 2121-2159.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c1 |w|_1 + c2 |w|^2

    evaluate F at the start
    if the start is zero and a fit will take seconds: one pass of AdaGrad over the sequences; G <- its sums of squares
        if F is lower there, continue from there
    else: G <- 1 + observed + expected counts of each feature
    D <- G^-1/4
    L-BFGS with H0 = (y.s / y.Dy) D                                 (c1 > 0: proximal L-BFGS in the same preconditioner)
        at steps 0 and 10, if it pays: H0 becomes dense on some hundred weights (head.py)
        in single precision, if a fit will take ten seconds, until F - F* is about the target gap

Rationale. Features differ in frequency by five orders of magnitude, and so does curvature; from H0 = I, L-BFGS spends
half of its evaluations on learning these scales. G estimates the scale of each feature at no cost: AdaGrad's sums are
squares of gradients, and counts bound the curvature that a feature can have. Full curvature, D = 1 / G, is wrong for
correlated features. A root is between it and the identity, and a fourth root was good on every dataset that was tried.
Many pairs save evaluations as long as reading them is cheap compared to an evaluation: `decisions.py` determines how
many. One pass of AdaGrad costs as much as two or three evaluations and saves ten to fifty. Its compiled code must be
loaded (or compiled once per machine), so fits of a second or two skip it. Only still longer fits use single precision,
because it compiles the kernels of a gradient a second time. An evaluation in single precision takes 50 % of the time
with many labels and 75 % with few. It certifies nothing: such Steps have an estimate of the objective and no gradient.
The last of them is evaluated again in double precision, and the ten or more exact steps from there to the end provide
the certificate.

Safeguards: F never increases. If the pass does not lower F, its weights are dropped. A failed line search drops the
pairs, then the preconditioner; the method is then steepest descent. A start other than zero is assumed to be good and
is not replaced by AdaGrad's. The same seed and number of threads give the same steps.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from fastcrf.core.solver_state import POINT, StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import (
    GradientProblem,
    SampledCurvatureProblem,
    SequenceGradientProblem,
    SinglePrecisionProblem,
)
from fastcrf.objective.evaluation import Start, begin, evaluate
from fastcrf.penalties.regularizer import sparsity
from fastcrf.simd.vectors import dot
from fastcrf.solvers.auto.adaptive_pass import adaptive_pass
from fastcrf.solvers.auto.decisions import affordable_pairs, gradient_seconds, is_near, kept
from fastcrf.solvers.auto.head import HeadRule, head_limit, with_heads
from fastcrf.solvers.contract import Solver
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.quasi_newton import curvature_pairs, dense_head, sparse_model
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.dense_head import with_ridge
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS, SmoothMethod
from fastcrf.solvers.quasi_newton.options import descend
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.quasi_newton.preconditioner import counts_of, preconditioner_of
from fastcrf.solvers.quasi_newton.prox_lbfgs import ProximalMethod
from fastcrf.solvers.quasi_newton.sparse_model import SparseModel

LONG = 0.015  # seconds of a gradient on one core: a fit takes about a hundred gradients
LONG_WITH_L1 = 0.003  # with L1 a step costs two gradients while few weights are zero, and the pass ends with zeros
LONG_ENOUGH_TO_COMPILE = 0.1  # a fit in which single precision saves more than its four seconds of compile time
LEAST_PAIRS, MOST_PAIRS = 20, 200
SHORT_PAIRS = 10  # minimum, for a fit with few and short steps
ROOM, BYTES_A_PAIR = 2**29, 8  # bytes that the pairs may take, unless FEWEST_PAIRS take more
FEWEST_PAIRS = 6
SHARE = 0.25  # of the time of a gradient, that a direction may take
SMALLEST_PART = 500  # sequences per thread below which the pass gains too little
MOST_PARTS = 8  # threads of the pass: each sees so much less of the data
WHEN = ("if long", "always", "never")


class AutoProblem(SequenceGradientProblem, SinglePrecisionProblem, SampledCurvatureProblem, Protocol):
    """The capabilities that `auto` uses: the gradient, and the others if a problem provides them."""


class Prepared(NamedTuple):
    """The start of quasi-Newton, and its preconditioner."""

    start: Start
    preconditioner: Floats


def optional(kept: StateField, **changes: Any) -> StateField:
    return kept._replace(optional=True, **changes)


@solver
class Auto:
    """Train with the default policy: quasi-Newton from a good start, without anything to tune.

    With c1 = 0 it is L-BFGS, with c1 > 0 proximal L-BFGS.

    Parameters
    ----------
    adaptive_pass
        Whether to begin with a pass of AdaGrad: "if long" (if training takes long enough), "always" or "never".
    pairs
        Curvature pairs; None: as many as are cheap.
    max_linesearch
        Limit on gradient evaluations per line search.
    eta
        Step size of the pass of AdaGrad.
    seed
        Seed of the order of the pass; None: the `random_state` of the estimator, or 0.
    single_precision
        Whether iterations run in single precision until the certified relative gap is at most `target`: "if long",
        "always" or "never".
    target
        Certified relative gap at which iterations change to double precision. None: all of them are in double
        precision. The estimator sets it from its `tol`.
    head
        Limit on the weights of the dense block of the first Hessian; 0: none. None: as many as pay, if any.
    """

    name: ClassVar[str] = "auto"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})  # and "sequences", if a problem provides them
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    guarantee: ClassVar[str] = "optimum"
    merges_attributes: ClassVar[bool] = True
    state_fields: ClassVar[Mapping[str, StateField]] = {  # the start alone, until the start of quasi-Newton is chosen
        **POINT,
        "basis": optional(curvature_pairs.STATE_FIELDS["basis"], dtype="float32"),
        "gram": optional(curvature_pairs.STATE_FIELDS["gram"]),
        "order": optional(curvature_pairs.STATE_FIELDS["order"]),
        "scale": optional(curvature_pairs.SCALE),
        **sparse_model.STATE_FIELDS,
        **dense_head.STATE_FIELDS,
        "taken": StateField(dtype="int64", low=-1, optional=True),  # steps of quasi-Newton, -1: no more heads
        "recent": StateField(n_axes=1, optional=True),  # objectives in single precision, like value and gradient then
    }

    adaptive_pass: str = "if long"
    pairs: int | None = None
    max_linesearch: int = 20
    eta: float = 0.3
    seed: int | None = None
    single_precision: str = "if long"
    target: float | None = None
    head: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.name, "adaptive_pass", self.adaptive_pass, WHEN)
        if self.pairs is not None:
            check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)
        check_positive(self.name, "eta", self.eta)
        check_seed(self.name, self.seed)
        check_choice(self.name, "single_precision", self.single_precision, WHEN)
        if self.target is not None:
            check_positive(self.name, "target", self.target)
        if self.head is not None:
            check_whole(self.name, "head", self.head, 0)

    def decided(self, problem: SequenceGradientProblem) -> Auto:
        """Return this solver with the choices that depend on the size of the problem made, so that a smaller one
        repeats them.
        """
        if "sequences" not in problem.provides:
            return replace(
                self, adaptive_pass="never", pairs=self.pairs or LEAST_PAIRS, single_precision="never", head=0
            )
        seconds = gradient_seconds(problem)
        is_long = is_due(self.adaptive_pass, seconds >= (LONG_WITH_L1 if problem.c1 > 0.0 else LONG))
        may_be_single = self.target is not None and "single-precision" in problem.provides
        is_single = may_be_single and is_due(self.single_precision, seconds >= LONG_ENOUGH_TO_COMPILE)
        most = max(FEWEST_PAIRS, ROOM // (BYTES_A_PAIR * max(problem.n_weights, 1)))
        least = LEAST_PAIRS if is_long else SHORT_PAIRS
        pairs = self.pairs or min(most, affordable_pairs(problem, SHARE, least, MOST_PAIRS))
        words = {True: "always", False: "never"}
        head = head_limit(problem, seconds, self.head)
        return replace(self, adaptive_pass=words[is_long], pairs=pairs, single_precision=words[is_single], head=head)

    def with_target(self, tol: float | None) -> Auto:
        """Set `tol` as the target unless one is set; None: every Step is exact."""
        return replace(self, target=None if tol is None else self.target or tol or None)

    def for_shards(self, c1: float) -> LBFGS | OWLQN:
        """Return quasi-Newton without the AdaGrad pass."""
        options: dict[str, Any] = {
            "max_linesearch": self.max_linesearch,
            **({"pairs": self.pairs} if self.pairs else {}),
        }
        return OWLQN(**options) if c1 > 0.0 else LBFGS(**options)

    def for_streams(self) -> Solver:
        """Return psa; docs/how-to/stream.md compares it with others."""
        from fastcrf.solvers.online.psa import PSA

        return PSA(seed=self.seed)

    def iterate(
        self, problem: AutoProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        settled = self.decided(problem)
        start = begin(self.name, problem, weights, state)
        if state and "scale" in state:
            pairs = settled._pairs(problem, np.ones(problem.n_weights))
            pairs.restore(self.name, state)
            follow = settled._single_precision_first if "recent" in state else settled._quasi_newton
            return (yield from follow(problem, start, pairs, state))
        point = {"weights": start.weights, "value": start.value, "gradient": start.gradient}
        yield Step(start.weights, start.passes, start.value, start.gradient, state=point)
        while (prepared := settled._prepare(problem, start)) is None:  # asked to stop within the pass
            yield Step(start.weights, 1.0, start.value, start.gradient, state=point)
        follow = settled._single_precision_first if settled.single_precision == "always" else settled._quasi_newton
        steps = follow(problem, prepared.start, settled._pairs(problem, prepared.preconditioner))
        if prepared.start.passes == 0:
            next(steps)  # the start, which has been reported
        return (yield from steps)

    @staticmethod
    def carried(
        state: Mapping[str, Any], before: SequenceGradientProblem, now: SequenceGradientProblem
    ) -> dict[str, Any]:
        """Return the state of a run on `before`, converted for one on `now`, the same data with another penalty.

        It is exactly the state with all evaluations repeated under that penalty. Costs no pass.
        """
        ridge = now.c2 - before.c2
        w, carried = state["weights"], dict(state)
        carried["value"] = state["value"] + ridge * dot(w, w) + sparsity(w, now.c1 - before.c1, now.c1_factors)
        carried["gradient"] = state["gradient"] + 2.0 * ridge * w
        if "scale" in state and (ridge != 0.0 or before.c1 > 0.0 == now.c1):  # L1 omits some products
            carried |= with_ridge("auto", state, 2.0 * ridge)
            carried.pop("inner", None)  # sums over rows that have changed
        if "recent" in state:
            carried["recent"] = np.empty(0)  # objectives of another penalty; the point still needs an exact evaluation
        return carried

    def _prepare(self, problem: SequenceGradientProblem, start: Start) -> Prepared | None:
        """Return the start, after a pass of AdaGrad if that is due and lowers F; None if asked to stop within it."""
        if self.adaptive_pass == "never" or start.weights.any():
            return Prepared(start._replace(passes=0), preconditioner_of(1.0 + counts_of(problem, start)))
        n_parts = max(1, min(problem.n_jobs, MOST_PARTS, problem.n_sequences // SMALLEST_PART))
        reached = adaptive_pass(problem, start.weights, n_parts=n_parts, eta=self.eta, seed=seed_of(self))
        if reached is None:
            return None
        weights, squares = reached  # w and G of Duchi et al. (2011): where to start, and the first H0
        value, gradient = evaluate(problem, weights)
        if not value < start.value:  # also true for a NaN
            return Prepared(start._replace(passes=2), preconditioner_of(1.0 + counts_of(problem, start)))
        return Prepared(Start(weights, value, gradient, 2), preconditioner_of(squares))

    def _pairs(self, problem: SequenceGradientProblem, preconditioner: Floats) -> CurvaturePairs:
        return CurvaturePairs(self.pairs or LEAST_PAIRS, problem.n_weights, problem.n_jobs, np.float32, preconditioner)

    def _single_precision_first(
        self, problem: AutoProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any] = NOTHING
    ) -> Generator[Step, None, str]:
        """Yield Steps in single precision until the target is near, then exact ones from there with the same pairs."""
        recent = list(state.get("recent", ()))
        approximate = problem.in_single_precision() if "single-precision" in problem.provides else problem
        for step in self._quasi_newton(problem, start, pairs, state, approximate):
            estimate = step.state["value"]
            recent = kept([*recent, estimate]) if step.passes else recent  # not a step that is reported again
            info, reached = {**step.info, "objective_estimate": estimate}, {**step.state, "recent": np.array(recent)}
            yield step._replace(objective=None, gradient=None, info=info, state=reached)
            if is_near(recent, self.target or 0.0):
                break
        exact = Start(step.weights, *evaluate(problem, step.weights), 1)
        return (yield from self._quasi_newton(problem, exact, pairs, step.state))

    def _quasi_newton(
        self,
        problem: AutoProblem,
        start: Start,
        pairs: CurvaturePairs,
        state: Mapping[str, Any] = NOTHING,
        approximate: GradientProblem | None = None,
    ) -> Generator[Step, None, str]:
        """Yield the Steps on `problem`, or on one that approximates its gradients."""
        evaluated, taken = approximate or problem, int(state.get("taken", -1 if state else 0))
        base: CurvaturePairs | SparseModel = pairs
        if problem.c1 > 0.0:
            base = SparseModel(self.name, pairs, state)
            steps = descend(ProximalMethod(self.name, evaluated, base, self.max_linesearch), start)  # Lee et al. (2014)
        else:  # Liu & Nocedal (1989)
            steps = descend(SmoothMethod(self.name, evaluated, pairs, self.max_linesearch), start)
        if not self.head:
            return steps
        rule = HeadRule(problem, self.head, seed_of(self), gradient_seconds(problem))
        return with_heads(steps, base, rule, taken)


def is_due(when: str, is_long: bool) -> bool:
    """Return whether a fit uses a stage, given its option value (one of WHEN)."""
    return when == "always" or (when == "if long" and is_long)
