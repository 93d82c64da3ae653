"""What every solver is, and what it keeps to.

`tests/solvers/test_contract.py` holds every registered solver to it:

* A solver is a frozen dataclass, declared by `fastcrf.solvers.declaration.solver`; its options are the fields, each
  with a working default; a wrong value raises `OptionError`. Its module's docstring begins with a title and, as second
  paragraph, the citation for `fastcrf solvers`.
* A stochastic solver has `seed: int | None = None`, and reads it by `seed_of`: None stands for the `random_state` of
  the run, which `registry.with_seed` fills in before the run begins, or for 0.
* It says what it `guarantee` (GUARANTEES below), and the tests hold it to that.
* `iterate(problem, weights, state=None)` is a generator. `weights` is the solver's own copy: it may be written.
* **The first Step is the start**: nothing has moved yet, and it becomes row 0 of the history. A solver that needs the
  objective there hands it out (`passes=1`, with objective and gradient); one that does not yields `Step(w, passes=0)`.
  Every later Step is one iteration or epoch of the paper, so that Step k is row k, and nothing is evaluated twice or
  without need. A dual solver, whose state is no vector of weights, starts at the weights that its first dual point
  stands for: it sets `starts = "own"`, and given weights other than zeros are refused with a sentence.
* A start that is not zero is taken for a good one: a solver that promises the optimum does not climb from there (one
  epoch after a start at the optimum, the objective is within 1e-3 of it).
* `passes` counts every evaluation where it happens, those of a vain line search too.
* Given the `state` of Step k, the first Step is Step k again (at no passes) and the second equals Step k + 1 bit for
  bit. The arrays of a given state are read, never written. `state_fields` declares every entry
  (`fastcrf.core.solver_state.StateField`), and `fastcrf.core.solver_state.check_state` has seen them before `iterate`
  does; lengths that follow from options are for the solver to check, by `fastcrf.core.solver_state.take`.
* One that can resume from its state with other sequences than those that it began with sets `streams = True`; its
  state then says by "sampled" how many sequences of the epoch are done, 0 at its end (`fastcrf.fitting.stream`).
* A Step that takes longer than about a second asks `problem.asked_to_stop()` between slices of its work, and when told
  so yields where it is, with a state that finishes the epoch exactly.
* `return "sentence"` ends the run: nothing is left to gain. `raise Diverged("sentence")` ends it as a failure. Either
  sentence is the reason that the user reads.
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
    state_fields: ClassVar[Mapping[str, StateField]]  # what its state holds

    def iterate(self, problem: AnyProblem, weights: Floats, state: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """Yield a Step per iteration, for ever or until nothing is left to improve."""
        ...


@runtime_checkable
class Policy(Solver, Protocol):
    """A solver that chooses its method by the problem at hand. It declares what the layers above do for it."""

    merges_attributes: ClassVar[bool]  # attributes that always occur together become one where c2 > 0

    def decided(self, problem: SequenceGradientProblem) -> Solver:
        """Settle what depends on the size of `problem`, so that a smaller one takes the same way."""
        ...

    def with_target(self, tol: float | None) -> Solver:
        """Aim at this relative gap: until then Steps may be approximate. None: every Step is exact."""
        ...

    def for_shards(self, c1: float) -> Solver:
        """Return the solver for a problem whose sequences are on other machines."""
        ...

    def for_streams(self) -> Solver:
        """Return the solver for sequences that come in chunks."""
        ...


@runtime_checkable
class PenaltyDependent(Protocol):
    """A solver that has a relative for penalties that it cannot handle."""

    def for_penalty(self, c1: float, c2: float) -> Solver:
        """Return the solver that runs under this penalty, with the same options."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A solver that can resume from its state with other sequences than those that it began with."""

    streams: ClassVar[bool]
