"""Epoch mixed gradient descent (EMGD).

Zhang, Mahdavi & Jin (2013), "Linear convergence with condition number independent access of full gradients", NIPS,
Algorithm 1.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

    repeat
        g_i <- grad nll_i(w~) for all i;  D <- (1/n) sum_i g_i + lambda w~                (a snapshot)
        w_1 <- w~
        for t = 1 .. T:  sample i uniformly
            w <- w_t - a [ grad nll_i(w_t) - g_i + lambda (w_t - w~) + D ]                (the mixed gradient)
            w_{t+1} <- the point nearest to w within Delta of w~
        w~ <- mean of w_1 .. w_{T+1}

`step="theory"` is the paper: a = 1 / ((L + lambda) sqrt(T)) with L = max_i L_i as bounded from the data, and Delta is
divided by sqrt(2) after each period. Its proof needs T of the order of (L / lambda)^2; with fewer samples the balls may
shrink faster than the distance to the optimum, and the run does not converge. `step="search"`: a = 1 / (L + lambda), L
searched as in `sag`, and Delta = |D| / lambda at each w~, a certified distance to the optimum. `project=False`, and
lambda = 0, which bounds no distance: no balls. The method is then SVRG with means for snapshots.

A Step is T samples and the snapshot that follows, so that it has the exact objective and gradient of its weights;
`info["radius"]` is Delta, in the scale of the weights. As in the paper, a sample evaluates g_i again; with `storage`
other than "none", the g_i are stored (stochastic/gradient_storage.py). Updates are lazy (lazy_vectors/ball_vector.py),
so that their cost depends on their sequences.

docs/explanation/sag-family.md has figures.

Differs from the paper: the penalty is exact instead of a part of each loss; the first Delta is |D| / lambda, which is
at least the distance that the paper assumes to be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.objective.lipschitz_bounds import bounds_of_blocks
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_truth, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.options import STORED_OR_NOT, check_sampling
from fastcrf.solvers.sag.run import Run
from fastcrf.solvers.sag.schemes import lipschitz
from fastcrf.solvers.sag.schemes.lipschitz import Constants, known_constant, one_constant
from fastcrf.solvers.sag.svrg import ball_weights
from fastcrf.solvers.sag.svrg.ball_weights import BallWeights
from fastcrf.solvers.sag.svrg.periods import advance_period, in_periods, samples_of_a_period


@solver
class EMGD:
    """Train with EMGD, epoch mixed gradient descent.

    Parameters
    ----------
    step
        Step size: "search", by a line search for the Lipschitz constant, or "theory", by a bound on it.
    project
        Whether iterates are projected on the ball of the period.
    inner_passes
        Samples of a period, as a multiple of the number of sequences.
    first_lipschitz
        First estimate of the Lipschitz constant; a line search corrects it.
    batch_size
        Largest number of sequences per sample.
    seed
        Seed of the samples and of the batches; None: the `random_state` of the estimator, or 0.
    storage
        "none", as in the paper: the gradient at the snapshot is evaluated again for each sample. "mixed", "marginals",
        "sparse", "naive" or "auto": it is stored.
    precision
        Precision of the stored gradients: "double" or "single".
    steps_per_epoch
        Steps per period, each a row of the history.
    """

    name: ClassVar[str] = "emgd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = (
        run.STATE_FIELDS | lipschitz.STATE_FIELDS | ball_weights.STATE_FIELDS
    )

    step: str = "search"
    project: bool = True
    inner_passes: float = 4.0
    first_lipschitz: float = 1.0
    batch_size: int = 1
    seed: int | None = None
    storage: str = "none"
    precision: str = "double"
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_choice(self.name, "step", self.step, ("search", "theory"))
        check_truth(self.name, "project", self.project)
        check_sampling(self, STORED_OR_NOT)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        n = -(-problem.n_sequences // self.batch_size)
        in_a_ball = partial(BallWeights, state=state, ridge=2.0 * problem.c2)
        run = Run(in_periods(self, self.scheme(problem, n), in_a_ball), problem, weights, state)
        ball = cast(BallWeights, run.lazy)

        def advance() -> Step:
            def resize() -> None:
                ball.resize(self.project, halve=self.step == "theory" and run.epoch > 1)

            advance_period(run, before_snapshot=ball.recenter, after_snapshot=resize)
            return where()

        def where() -> Step:
            step = run.step()
            return step._replace(info={**step.info, "radius": ball.radius})

        yield where() if state else advance()
        while True:
            yield advance()

    def scheme(self, problem: SequenceProblem, n: int) -> Constants:
        if self.step == "search":
            return one_constant(n, self.first_lipschitz)
        largest = bounds_of_blocks(problem.corpus, problem.features, n, seed_of(self)).max() or 1.0
        return known_constant(n, largest, step_divisor=np.sqrt(samples_of_a_period(self.inner_passes, n)))
