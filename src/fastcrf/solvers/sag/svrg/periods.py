"""Options and runs in periods shared by SVRG and its variants. This file defines no solver.

A period is M samples and the snapshot that follows: all blocks are evaluated at w~, the current weights, and d is the
sum of their gradients. Between two snapshots neither changes. Because a snapshot ends a period, the Step there has the
exact objective and gradient of its weights.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.lazy_vectors.lazy_weights import LazyWeights, Make, MovedWeights
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.options import STORED_OR_NOT, check_sampling
from fastcrf.solvers.sag.run import Method, Run
from fastcrf.solvers.sag.schemes import lipschitz
from fastcrf.solvers.sag.schemes.lipschitz import Constants, one_constant, own_constants
from fastcrf.solvers.sag.schemes.scheme import Scheme


@solver
class VarianceReduced:
    """Declare the options that SVRG's solvers share.

    Parameters
    ----------
    sampling
        "uniform" or "nus", by Lipschitz constants.
    inner_passes
        Samples of a period, as a multiple of the number of sequences.
    step_divisor
        Divisor of the step size.
    first_lipschitz
        First estimate of the Lipschitz constants; a line search corrects it.
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

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]]
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | lipschitz.STATE_FIELDS

    sampling: str = "uniform"
    inner_passes: float = 2.0
    step_divisor: float = 1.0
    first_lipschitz: float = 1.0
    batch_size: int = 1
    seed: int | None = None
    storage: str = "none"
    precision: str = "double"
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_choice(self.name, "sampling", self.sampling, ("uniform", "nus"))
        check_sampling(self, STORED_OR_NOT)

    @abstractmethod
    def vector(self, problem: SequenceProblem, n: int) -> Make:
        """Return the weights that the samples move, for n blocks of sequences."""

    def scheme(self, n: int) -> Constants:
        """Return samples, Lipschitz constants and step size for n blocks of sequences."""
        if self.sampling == "nus":
            return own_constants(n, self.first_lipschitz, skipping=True, step_divisor=self.step_divisor)
        return one_constant(n, self.first_lipschitz, self.step_divisor)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        n = -(-problem.n_sequences // self.batch_size)
        method = in_periods(self, self.scheme(n), partial(LazyWeights, make=self.vector(problem, n)))
        run = Run(method, problem, weights, state)
        if not state:
            advance_period(run)
        yield run.step()
        while True:
            advance_period(run)
            yield run.step()


def in_periods(solver: Any, scheme: Scheme, lazy: Callable[..., MovedWeights]) -> Method:
    """Return the method of a solver with these options: between two snapshots, stored gradients stay and steps are
    SAGA's.
    """
    return Method(
        solver.name,
        scheme,
        lazy,
        seed=seed_of(solver),
        filling=True,
        storage=solver.storage,
        precision=solver.precision,
        growth=0.0,
        correction=1.0,
        n_samples=samples_of_a_period(solver.inner_passes, len(scheme.seen)),
        steps=solver.steps_per_epoch,
    )


def samples_of_a_period(inner_passes: float, n: int) -> int:
    return max(1, round(inner_passes * n))


def nothing() -> None:
    """Do nothing, at either end of a snapshot."""


def advance_period(
    run: Run, before_snapshot: Callable[[], None] = nothing, after_snapshot: Callable[[], None] = nothing
) -> None:
    """Advance to the next Step: the remaining samples, and the snapshot after them. A run begins with a snapshot."""
    if run.filled.finished:
        run.sample()
        if not run.slices.finished:
            return
        run.filled.start_again()
        before_snapshot()
        if run.problem.asked_to_stop():
            return
    run.fill()
    if run.filled.finished:
        run.begin_epoch()
        after_snapshot()
