"""Each check of the contract fails for a solver that is broken on purpose, and passes for the same solver unbroken."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Diverged
from fastcrf.solvers.dual.eg import EG
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.sag.sag import SAG
from reference import contract_checks as checks


def breaking(cls, change):
    """The solver with every Step changed: `change(step, number, problem)` gives the broken one."""

    class Broken(cls):
        def iterate(self, problem, weights, state=None):
            for number, step in enumerate(super().iterate(problem, weights, state)):
                yield change(step, number, problem)

    return dataclasses.dataclass(frozen=True)(Broken)()


class Restless(SAG):
    """Takes no notice of where it starts: its table of gradients is empty at the optimum too."""

    def iterate(self, problem, weights, state=None):
        steps = super().iterate(problem, np.zeros_like(weights), state)
        yield next(steps)._replace(weights=weights)
        yield from steps


class Deaf(SAG):
    """Never looks at its numbers and yields the last finite ones for ever."""

    def iterate(self, problem, weights, state=None):
        steps = super().iterate(problem, weights, state)
        first = next(steps)
        step = first._replace(weights=first.weights.copy())
        while True:
            yield step
            with suppress(Diverged, StopIteration):
                next(steps)


class Unclosable(LBFGS):
    """Goes on when it is closed."""

    def iterate(self, problem, weights, state=None):
        for step in super().iterate(problem, weights, state):
            try:
                yield step
            except GeneratorExit:
                yield step


class Trusting(LBFGS):
    """Takes any numbers for its state."""

    state_fields: ClassVar[Mapping[str, StateField]] = {
        name: StateField("sequences", infinite=True, optional=True) for name in LBFGS.state_fields
    }

    def iterate(self, problem, weights, state=None):
        return super().iterate(problem, weights)


class Hoarder(LBFGS):
    """Keeps the weights of every Step."""

    def iterate(self, problem, weights, state=None):
        kept = []
        for step in super().iterate(problem, weights, state):
            kept.append(step.weights.copy())
            yield step
        while True:
            kept.append(step.weights.copy())
            yield step


class Obedient(EG):
    """Ignores given weights instead of raising."""

    def iterate(self, problem, weights, state=None):
        return super().iterate(problem, np.zeros_like(weights), state)


BROKEN = {
    checks.assert_the_first_step_is_the_start: breaking(
        LBFGS, lambda step, *_: step._replace(weights=step.weights + 1.0)
    ),
    checks.assert_starts_at_a_dual_point: Obedient(),
    checks.assert_the_dual_value_reaches_the_optimum: breaking(EG, lambda step, *_: step._replace(lower_bound=0.0)),
    checks.assert_it_keeps_its_guarantee: breaking(LBFGS, lambda step, *_: step._replace(weights=0.9 * step.weights)),
    checks.assert_objective_and_gradient_are_those_of_the_weights: breaking(
        LBFGS, lambda step, *_: step._replace(objective=step.objective * 1.001)
    ),
    checks.assert_bounds_are_below_the_optimum: breaking(
        LBFGS, lambda step, *_: step._replace(lower_bound=step.objective + 1.0)
    ),
    checks.assert_info_has_numbers_under_names_of_its_own: breaking(
        LBFGS, lambda step, *_: step._replace(info={"seconds": 1.0})
    ),
    checks.assert_the_state_is_as_declared: breaking(
        LBFGS, lambda step, *_: step._replace(state={**step.state, "more": 1.0})
    ),
    checks.assert_passes_count_every_evaluation: breaking(LBFGS, lambda step, *_: step._replace(passes=1)),
    checks.assert_a_run_can_be_repeated: breaking(
        LBFGS, lambda step, *_: step._replace(weights=step.weights + np.random.default_rng().normal())
    ),
    checks.assert_reading_a_step_changes_nothing: breaking(
        LBFGS, lambda step, number, problem: step._replace(weights=step.weights + problem.passes)
    ),
    checks.assert_the_state_of_a_step_gives_the_rest_of_the_run: breaking(
        SAG, lambda step, *_: step._replace(state={**step.state, "drift": 0.5 * step.state["drift"]})
    ),
    checks.assert_it_may_be_closed: Unclosable(),
    checks.assert_it_stays_at_the_optimum: Restless(),
    checks.assert_it_notices_divergence: Deaf(),
    checks.assert_a_spoilt_state_raises: Trusting(),
    checks.assert_steps_do_not_pile_up_memory: Hoarder(),
    checks.assert_one_weight_and_one_sequence_will_do: breaking(
        LBFGS, lambda step, number, problem: step._replace(weights=step.weights / (problem.n_sequences - 1.0))
    ),
}


def unbroken(solver):
    return next(cls for cls in (SAG, EG, LBFGS) if isinstance(solver, cls))()


@pytest.mark.parametrize("check", BROKEN, ids=lambda check: check.__name__)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_broken_solver_fails_the_check_and_an_unbroken_one_passes(check):
    with pytest.raises((AssertionError, RuntimeError, pytest.fail.Exception)):
        check(BROKEN[check], "l2")
    check(unbroken(BROKEN[check]), "l2")


def test_a_solver_without_steps_within_an_epoch_fails():
    check = checks.assert_steps_within_an_epoch_are_points_of_the_same_run
    with pytest.raises(AssertionError):
        check(SAG(), SAG(), "l2")
    with pytest.raises(AssertionError):
        check(SAG(), SAG(seed=1, steps_per_epoch=3), "l2")
    check(SAG(), SAG(steps_per_epoch=3), "l2")


def test_every_check_has_a_control():
    named = {name for name in vars(checks) if name.startswith("assert_")}
    assert named == {check.__name__ for check in BROKEN} | {"assert_steps_within_an_epoch_are_points_of_the_same_run"}
