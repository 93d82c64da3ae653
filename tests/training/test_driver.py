"""The one loop: clock, trace, endings, scores, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Diverged, Step
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.stopping import CertifiedGap, EarlyStopping, GradientNorm, MaxIterations, MaxPasses, RelativeDecrease
from fastcrf.training.driver import minimize
from fastcrf.training.trace import COLUMNS
from reference.toy_problem import ToyProblem


@dataclass
class Script:
    """A solver that plays a list: numbers are steps to weights filled with them, exceptions are raised."""

    acts: list
    end: str | None = None
    pause: Callable[[], None] = lambda: None
    closed: bool = False
    name: ClassVar[str] = "script"
    needs: ClassVar[frozenset[str]] = frozenset({"gradient"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l1", "l2", "l1+l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[dict[str, StateField]] = {"act": StateField()}

    def iterate(self, problem, weights, state=None):
        try:
            for act in self.acts:
                self.pause()
                if isinstance(act, Exception):
                    raise act
                weights[:] = act  # in place, as stochastic solvers do
                yield Step(weights, passes=0.5, state={"act": act})
            return self.end
        finally:
            weights[:] = np.nan  # whoever kept the array instead of a copy will notice
            self.closed = True


def first(weights):
    return float(weights[0])


def test_the_trace_begins_with_the_start_and_ends_with_the_returned_weights():
    toy = ToyProblem()
    start = np.full(toy.n_weights, 0.5)
    result = minimize(toy, LBFGS(), start, stop=[MaxIterations(7)])
    assert [row["step"] for row in result.trace] == list(range(8))
    assert result.n_steps == 7
    assert result.trace[0]["objective"] == pytest.approx(toy.value(start))
    assert result.trace[-1]["objective"] == pytest.approx(toy.value(result.weights), rel=1e-14)
    assert result.trace[-1]["gap"] == result.certificate.gap <= toy.certificate(result.weights).gap
    assert (start == 0.5).all()


def test_every_row_has_every_column_and_cumulative_costs_never_fall():
    toy = ToyProblem()
    trace = minimize(toy, LBFGS(), stop=[MaxIterations(9)]).trace
    for row in trace:
        assert set(COLUMNS) <= set(row)
    for column in ("passes", "seconds", "wall"):
        costs = [row[column] for row in trace]
        assert costs == sorted(costs)
    assert all(row["seconds"] <= row["wall"] for row in trace)
    assert trace[-1]["passes"] == toy.evaluations


def test_nothing_that_a_step_carries_is_evaluated_again():
    toy = ToyProblem(c2=1.0)
    rules = [CertifiedGap(1e-6), GradientNorm(1e-9), RelativeDecrease(1e-5), MaxIterations(50)]
    result = minimize(toy, LBFGS(), stop=rules)
    assert result.status == "converged"
    assert toy.evaluations == result.trace[-1]["passes"]


def test_the_default_start_is_zero():
    toy = ToyProblem()
    assert minimize(toy, LBFGS(), stop=[MaxIterations(0)]).weights.tolist() == [0.0] * toy.n_weights


def test_weights_of_another_length_raise_an_error():
    with pytest.raises(ValueError, match=r"The problem has 21 weights; got an array of shape \(3,\)"):
        minimize(ToyProblem(), LBFGS(), np.zeros(3))


def test_a_penalty_that_the_solver_does_not_handle_raises_an_error_before_the_start():
    toy = ToyProblem(c1=1.0)
    with pytest.raises(ValueError, match="lbfgs has no L1 penalty, but c1=1: set c1=0"):
        minimize(toy, LBFGS())
    assert toy.evaluations == 0


def test_the_returned_weights_are_a_copy_although_the_solver_writes_its_own():
    result = minimize(ToyProblem(), Script([0.0, 1.0, 2.0, 3.0]), stop=[MaxIterations(2)])
    assert (result.weights == 2.0).all()


@pytest.mark.parametrize("acts", [[0.0, 1.0], [0.0, ValueError("bug")], [0.0, Diverged("It hurts.")]])
def test_the_generator_is_always_closed(acts):
    script = Script(acts)
    try:
        minimize(ToyProblem(), script, stop=[MaxIterations(1)])
    except ValueError as bug:
        assert str(bug) == "bug"  # noqa: PT017
    assert script.closed


def test_a_solver_that_returns_has_finished_and_its_sentence_is_the_reason():
    result = minimize(ToyProblem(), Script([0.0, 1.0], end="Nothing is left to do."))
    assert (result.status, result.reason) == ("finished", "Nothing is left to do.")
    assert (result.weights == 1.0).all()
    assert result.trace[-1]["objective"] == pytest.approx(ToyProblem().value(result.weights))
    assert minimize(ToyProblem(), Script([0.0])).reason == "The solver cannot improve further."


def test_a_solver_that_raises_diverged_returns_the_last_finite_weights():
    result = minimize(ToyProblem(), Script([0.0, 1.0, Diverged("The step size is too large.")]))
    assert (result.status, result.reason) == ("diverged", "The step size is too large.")
    assert (result.weights == 1.0).all()
    assert result.n_steps == 1
    assert result.state == {}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_divergence_and_leave_no_row(bad):
    result = minimize(ToyProblem(), Script([0.0, 1.0, bad, 2.0]))
    assert result.status == "diverged"
    assert "not finite at iteration 2" in result.reason
    assert (result.weights == 1.0).all()
    assert len(result.trace) == 2


def test_an_objective_that_a_rule_finds_to_be_infinite_is_divergence():
    class Cliff(ToyProblem):
        def gradient(self, w):
            value, gradient = super().gradient(w)
            return (np.inf if w[0] > 1.5 else value), gradient

    result = minimize(Cliff(), Script([0.0, 1.0, 2.0, 3.0]), stop=[RelativeDecrease(0.0, iterations=1)])
    assert result.status == "diverged"
    assert (result.weights == 1.0).all()


def test_a_start_that_is_not_finite_is_divergence_with_a_row_of_its_own():
    toy = ToyProblem()
    result = minimize(toy, LBFGS(), np.full(toy.n_weights, np.nan))
    assert result.status == "diverged"
    assert "cannot start" in result.reason
    assert len(result.trace) == 1


def test_a_limit_and_convergence_at_the_same_step_count_as_convergence():
    toy = ToyProblem()
    result = minimize(toy, LBFGS(), stop=[MaxIterations(0), GradientNorm(1e9)])
    assert result.status == "converged"


def test_a_limit_stops_with_its_sentence():
    result = minimize(ToyProblem(), LBFGS(), stop=[MaxPasses(5)])
    assert result.status == "stopped"
    assert result.reason.startswith("Reached max_passes=5")


def test_rules_may_be_used_again():
    rules = [CertifiedGap(1e-5), MaxIterations(100)]
    first_run, second_run = (minimize(ToyProblem(), LBFGS(), stop=rules) for _ in range(2))
    assert first_run.n_steps == second_run.n_steps > 2


class Clock:
    """Stands for the module `time`: it moves only when told."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def move(self, seconds):
        self.now += seconds


def test_the_clock_runs_only_inside_the_solver(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("fastcrf.training.driver.time", clock)

    def slow_score(weights):
        clock.move(100.0)
        return 0.0

    script = Script([0.0, 1.0, 2.0], pause=partial(clock.move, 1.0))
    slow_callback = lambda row: clock.move(10.0)  # noqa: E731
    last = minimize(ToyProblem(), script, watch={"score": slow_score}, callbacks=[slow_callback]).trace[-1]
    assert last["seconds"] == 3.0
    assert last["wall"] == 223.0  # two scores and two callbacks came before


def test_callbacks_see_every_row_and_true_ends_the_run():
    seen = []

    def stop_at_two(row):
        seen.append(row["step"])
        return row["step"] == 2

    result = minimize(ToyProblem(), LBFGS(), callbacks=[stop_at_two, lambda row: None])
    assert seen == [0, 1, 2]
    assert (result.status, result.reason) == ("requested", "A callback returned True at iteration 2.")


def test_callbacks_see_the_row_at_which_a_rule_fires():
    seen = []
    minimize(ToyProblem(), LBFGS(), stop=[MaxIterations(3)], callbacks=[seen.append])
    assert [row["step"] for row in seen] == [0, 1, 2, 3]


def test_watched_scores_are_in_every_row():
    trace = minimize(ToyProblem(), Script([0.0, 1.0, 2.0]), watch={"first": first}).trace
    assert [row["first"] for row in trace] == [0.0, 1.0, 2.0]


def test_a_watched_score_may_not_hide_a_column():
    with pytest.raises(ValueError, match="may not be called 'objective'"):
        minimize(ToyProblem(), LBFGS(), watch={"objective": first})


def test_best_must_name_a_watched_score():
    with pytest.raises(ValueError, match="best='f1' is not a watched score; watched are: accuracy"):
        minimize(ToyProblem(), LBFGS(), watch={"accuracy": first}, best="f1")


def test_the_best_weights_are_returned_with_a_last_row_of_their_own():
    toy = ToyProblem()
    script = Script([0.0, 3.0, 1.0, 2.0, 2.5])
    result = minimize(toy, script, watch={"dev_first": first}, best="dev_first", stop=[EarlyStopping(3, score="first")])
    assert result.status == "requested"
    assert (result.weights == 3.0).all()
    assert result.n_steps == 4
    last = result.trace[-1]
    assert (last["step"], last["restored_step"], last["dev_first"], last["passes"]) == (4, 1, 3.0, 2.5)
    assert last["objective"] == pytest.approx(toy.value(result.weights))
    assert result.certificate.gap == pytest.approx(toy.certificate(result.weights).gap)


def test_the_last_weights_are_returned_if_they_are_the_best():
    result = minimize(ToyProblem(), Script([0.0, 1.0, 2.0]), watch={"first": first}, best="first")
    assert (result.weights == 2.0).all()
    assert len(result.trace) == 3


def test_the_first_of_equally_good_weights_are_returned_and_nan_is_never_the_best():
    scores = iter([np.nan, 1.0, np.nan, 1.0])
    result = minimize(ToyProblem(), Script([0.0, 1.0, 2.0, 3.0]), watch={"s": lambda w: next(scores)}, best="s")
    assert (result.weights == 1.0).all()


@pytest.mark.parametrize(("solver", "c1"), [(LBFGS(), 0.0), (OWLQN(), 0.7)])
def test_two_runs_joined_by_memory_equal_one_run(solver, c1):
    toy = ToyProblem(c1=c1, c2=0.1)
    whole = minimize(toy, solver, stop=[MaxIterations(12)])
    half = minimize(toy, solver, stop=[MaxIterations(5)])
    rest = minimize(toy, solver, state=half.state, stop=[MaxIterations(7)])
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert half.trace[-1]["passes"] + rest.trace[-1]["passes"] == whole.trace[-1]["passes"]


def test_every_result_is_certified_even_when_nobody_asked():
    toy = ToyProblem(c1=1.0, c2=0.0)
    result = minimize(toy, OWLQN(), stop=[MaxIterations(5)])
    assert result.trace[-2]["gap"] is None
    assert result.trace[-1]["gap"] == result.certificate.gap > 0


def test_a_run_from_the_answer_stays_there():
    toy = ToyProblem()
    rules = [CertifiedGap(1e-8), MaxIterations(200)]
    result = minimize(toy, LBFGS(), stop=rules)
    again = minimize(toy, LBFGS(), result.weights, stop=rules)
    assert again.n_steps == 0
    np.testing.assert_array_equal(again.weights, result.weights)
