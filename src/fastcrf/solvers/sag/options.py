"""Options and runs shared by stochastic solvers with stored gradients. This file defines no solver.

A solver of the family is its scheme (scheme.py) and `correction`: 0 for SAG's step, 1 for SAGA's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_weights import LazyWeights, Make
from fastcrf.lazy_vectors.proximal_vector import make_proximal
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_positive, check_seed, check_whole, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.run import Method, Run, Samples
from fastcrf.solvers.sag.schemes import lipschitz
from fastcrf.solvers.sag.schemes.scheme import Scheme
from fastcrf.stochastic.gradient_storage import FORMS, PRECISIONS

POSITIVE = ("first_lipschitz", "step_divisor", "inner_passes")  # options that not all solvers have
STORED = ("auto", *FORMS)
STORED_OR_NOT = ("none", *STORED)


def check_sampling(solver: Any, storages: tuple[str, ...]) -> None:
    """Raise `OptionError` if an option of the family is invalid; `storages` are the values that this solver
    supports.
    """
    for option in (name for name in POSITIVE if hasattr(solver, name)):
        check_positive(solver.name, option, getattr(solver, option))
    for option, least in (("batch_size", 1), ("steps_per_epoch", 1)):
        check_whole(solver.name, option, getattr(solver, option), least)
    check_seed(solver.name, solver.seed)
    check_choice(solver.name, "storage", solver.storage, storages)
    check_choice(solver.name, "precision", solver.precision, PRECISIONS)


@solver
class AverageGradient:
    """Declare the options that SAG and SAGA share.

    Parameters
    ----------
    batch_size
        Largest number of sequences per sample. Larger batches need a few more passes, which are cheaper, and store
        fewer gradients.
    seed
        Seed of the samples and of the batches; None: the `random_state` of the estimator, or 0.
    storage
        Format of the stored gradients, without effect on the iterates: "mixed", "marginals", "sparse", "naive", or
        "auto", the smallest ("mixed" if that is hardly larger).
    precision
        Precision of the stored gradients: "double" or "single".
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | lipschitz.STATE_FIELDS
    resumes_with_other_c2: ClassVar[bool] = True  # stored gradients are those of the loss alone
    correction: ClassVar[float] = 0.0
    fills: ClassVar[bool] = False  # whether all gradients are stored before the first sample, for any start

    batch_size: int = 1
    seed: int | None = None
    storage: str = "auto"
    precision: str = "double"
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_sampling(self, STORED)

    @abstractmethod
    def scheme(self, problem: SequenceProblem, n: int) -> Scheme:
        """Return samples, Lipschitz constants and step size for n blocks of sequences."""

    def vector(self, problem: SequenceProblem, n: int) -> Make:
        """Return the weights that the samples move, for n blocks of sequences."""
        return make_drifting

    def run(self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None) -> Run:
        n = -(-problem.n_sequences // self.batch_size)
        method = Method(
            self.name,
            self.scheme(problem, n),
            partial(LazyWeights, make=self.vector(problem, n)),
            seed=seed_of(self),
            filling=self.fills or bool(weights.any()),  # away from zero, an incomplete d would give wrong directions
            storage=self.storage,
            precision=self.precision,
            correction=self.correction,
            steps=self.steps_per_epoch,
        )
        return Run(method, problem, weights, state)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        yield from epochs(self.run(problem, weights, state), resumed=bool(state))


def epochs(run: Run, resumed: bool, samples: Samples | None = None, uniforms: int = 1) -> Iterator[Step]:
    """Yield the Steps of a run that stores all gradients first, if at all, and then samples without end.

    samples: a loop of samples, each from `uniforms` uniforms, that counts its recursions, if not that of loop.py.
    """
    if not (resumed or run.filled.finished):
        run.fill()
    yield run.step()
    while True:
        if not run.filled.finished:
            run.fill()
        else:
            run.sample(samples, uniforms)
            if run.slices.finished:
                run.begin_epoch()
        yield run.step()


def soft_thresholds(problem: SequenceProblem, n: int) -> Make:
    """Return the lazy vector of a proximal solver; without an L1 penalty, thresholds of zero would only cost time."""
    return partial(make_proximal, c1=problem.c1, n_steps=n + 1) if problem.c1 > 0.0 else make_drifting
