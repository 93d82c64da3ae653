"""What the solvers by curvature pairs share: options, start, and pairs with the preconditioner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import POINT, StateField
from fastcrf.core.types import NOTHING, Floats, Step
from fastcrf.objective.capabilities import SequenceGradientProblem
from fastcrf.objective.evaluation import Start, begin
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_whole
from fastcrf.solvers.quasi_newton import curvature_pairs
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.preconditioner import counts_of, preconditioner_of

PRECONDITIONERS = ("none", "counts")


@solver
class QuasiNewton(ABC):
    """Declare the options that quasi-Newton solvers share.

    Parameters
    ----------
    pairs
        Curvature pairs (weight change, gradient change). More pairs mean fewer iterations and more memory.
    max_linesearch
        Limit on gradient evaluations per line search.
    preconditioner
        Diagonal H0 that the pairs start from: "none", a multiple of the identity, or "counts", which follows how often
        each feature occurs.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})  # and "sequences" for H0 by counts
    guarantee: ClassVar[str] = "optimum"
    precision: ClassVar[type] = np.float64  # of the pairs
    always_scaled: ClassVar[bool] = False  # whether D is kept even where it is I
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **POINT,
        **curvature_pairs.STATE_FIELDS,
        "scale": curvature_pairs.SCALE._replace(optional=True),
    }

    pairs: int = 6
    max_linesearch: int = 20
    preconditioner: str = "none"

    def __post_init__(self) -> None:
        check_whole(self.name, "pairs", self.pairs, 1)
        check_whole(self.name, "max_linesearch", self.max_linesearch, 1)
        check_choice(self.name, "preconditioner", self.preconditioner, PRECONDITIONERS)

    def iterate(
        self, problem: SequenceGradientProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        start, given = begin(self.name, problem, weights, state), state or NOTHING
        preconditioner = self._preconditioner(problem, start, given)
        pairs = CurvaturePairs(self.pairs, problem.n_weights, problem.n_jobs, self.precision, preconditioner)
        if state:
            pairs.restore(self.name, state)
        return (yield from self._descend(problem, start, pairs, given))

    def _preconditioner(
        self, problem: SequenceGradientProblem, start: Start, state: Mapping[str, Any]
    ) -> Floats | None:
        """D; with a memory, room for the one that it holds."""
        if self.preconditioner == "counts" and not state:
            return preconditioner_of(1.0 + counts_of(problem, start))
        return np.ones(problem.n_weights) if self.always_scaled or "scale" in state else None

    @abstractmethod
    def _descend(
        self, problem: SequenceGradientProblem, start: Start, pairs: CurvaturePairs, state: Mapping[str, Any]
    ) -> Generator[Step, None, str]:
        """The steps from an evaluated start, with the pairs that there are; `state` is what it goes on from."""
