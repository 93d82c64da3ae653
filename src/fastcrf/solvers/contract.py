"""The contract of solvers.

`tests/solvers/test_contract.py` checks it for every registered solver:

* A solver is a frozen dataclass, declared by `fastcrf.solvers.declaration.solver`. Its options are the fields, each
  with a working default; an invalid value raises `OptionError`. Its module's docstring begins with a title and, as the
  second paragraph, the citation for `fastcrf solvers`.
* A stochastic solver has `seed: int | None = None`, and reads it by `seed_of`: None stands for the `random_state` of
  the run, which `registry.with_seed` fills in before the run begins, or for 0.
* `guarantee` declares its convergence (GUARANTEES below), and the tests verify it.
* `iterate(problem, weights, state=None)` is a generator. `weights` is the solver's own copy: it may be written.
* **The first Step is the start**: no weight has moved, and it becomes row 0 of the history. A solver that needs the
  objective there yields it (`passes=1`, with objective and gradient); one that does not yields `Step(w, passes=0)`.
  Every later Step is one iteration or epoch of the paper, so that Step k is row k, and nothing is evaluated twice or
  without need. A dual solver, whose state is no vector of weights, starts at the weights of its first dual point: it
  sets `starts = "own"`, and raises `ValueError` for given weights other than zeros.
* A nonzero start is assumed to be good: a solver that guarantees the optimum does not increase the objective from
  there (one epoch after a start at the optimum, the objective is within 1e-3 of it).
* `passes` counts every evaluation where it happens, including those of a failed line search.
* Given the `state` of Step k, the first Step is Step k again (at no passes) and the second equals Step k + 1 bit for
  bit. The arrays of a given state are read, never written. `state_fields` declares every entry
  (`fastcrf.core.solver_state.StateField`), and `fastcrf.core.solver_state.check_state` validates them before `iterate`
  runs. The solver itself checks lengths that depend on options, by `fastcrf.core.solver_state.take`.
* A solver that can resume from its state with other sequences sets `streams = True`. The entry "sampled" of its state
  is then the number of sequences of the epoch that are done, 0 at its end (`fastcrf.fitting.stream`).
* A solver whose state is also valid for another L2 penalty on the same sequences sets `resumes_with_other_c2 = True`. A
  regularization path then resumes from it (Schmidt et al. 2015, footnote 1).
* A Step that takes longer than about a second calls `problem.asked_to_stop()` between slices of its work. If that
  returns True, the solver yields its current weights, with a state that finishes the epoch exactly.
* `return "sentence"` ends the run: the solver cannot improve further. `raise Diverged("sentence")` ends it as a
  failure. The user reads either sentence as the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import AnyProblem, SequenceGradientProblem

GUARANTEES = {
    "optimum": "converges to the lowest objective",
    "optimum, slowly": "converges to the lowest objective in many more iterations than others",
    "near the optimum": "comes near the lowest objective and stays there",
    "near the optimum, sparse": "comes near the lowest objective, with exact zeros",
    "no objective": "minimizes another function: objective and certificate do not apply",
}


@runtime_checkable
class Solver(Protocol):
    """A training algorithm: a frozen dataclass whose fields are its options, with a generator of Steps."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]]  # capabilities of the problem (fastcrf.objective.capabilities)
    handles: ClassVar[frozenset[str]]  # penalties: subset of {"none", "l1", "l2", "l1+l2"}
    guarantee: ClassVar[str]  # one of GUARANTEES
    state_fields: ClassVar[Mapping[str, StateField]]  # the entries of its state

    def iterate(self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """Yield a Step per iteration, without end or until no improvement is possible."""
        ...


@runtime_checkable
class Policy(Solver, Protocol):
    """A solver that chooses its method for each problem. It declares what the layers above do for it."""

    merges_attributes: ClassVar[bool]  # whether duplicate attributes are merged if c2 > 0

    def decided(self, problem: SequenceGradientProblem) -> Solver:
        """Return the solver with the choices that depend on the size of `problem` made, so that a smaller one repeats
        them.
        """
        ...

    def with_target(self, tol: float | None) -> Solver:
        """Set the target relative gap: Steps may be approximate until then. None: every Step is exact."""
        ...

    def for_shards(self, c1: float) -> Solver:
        """Return the solver for a problem whose sequences are on other machines."""
        ...

    def for_streams(self) -> Solver:
        """Return the solver for sequences that come in chunks."""
        ...


@runtime_checkable
class PenaltyDependent(Protocol):
    """A solver with a related solver for penalties that it cannot handle."""

    def for_penalty(self, c1: float, c2: float) -> Solver:
        """Return the solver that runs under this penalty, with the same options."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A solver that can resume from its state with other sequences."""

    streams: ClassVar[bool]
