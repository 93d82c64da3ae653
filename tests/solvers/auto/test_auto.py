"""The policy `auto`: its start, its preconditioner, its safeguards."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import pytest

from fastcrf.core.types import Corpus
from fastcrf.objective.evaluation import evaluate
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto import auto
from fastcrf.solvers.auto.adaptive_pass import adaptive_pass
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.auto.decisions import SLICE, affordable_pairs, gradient_seconds, is_near, kept, remaining_gap
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import first_sequences
from reference.plain_adaptive import adagrad_pass
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_problem import ToyProblem


def small_problem(c1=0.0, c2=0.5, **options):
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), c1, c2, **options)


def zeros(problem):
    return np.zeros(problem.n_weights)


def gradient_of_one(problem):
    """The gradient of the loss of sequence i, by a problem that holds nothing else."""
    corpus = problem.corpus

    def of(i, w):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        offsets = corpus.offsets[first : last + 1]
        alone = Corpus(
            starts=np.array([0, last - first]),
            offsets=offsets - offsets[0],
            attributes=corpus.attributes[offsets[0] : offsets[-1]],
            values=corpus.values[offsets[0] : offsets[-1]],
            labels=corpus.labels[first:last],
            weights=corpus.weights[i : i + 1],
        )
        return Problem(alone, problem.features).gradient(w)[1]

    return of


@pytest.mark.parametrize(("n_parts", "c1"), [(1, 0.0), (2, 0.0), (2, 0.7)])
def test_the_pass_takes_the_steps_of_its_reference(n_parts, c1):
    problem = small_problem(c1)
    order = epoch_permutation(3, 1, problem.n_sequences)
    orders = [order[k::n_parts] for k in range(n_parts)]
    expected = adagrad_pass(gradient_of_one(problem), problem.n_weights, orders, eta=0.3, c1=c1)
    found = adaptive_pass(problem, zeros(problem), n_parts=n_parts, eta=0.3, seed=3)
    assert found is not None
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    assert (found[0] == 0.0).any() == (c1 > 0.0)


@pytest.mark.parametrize("c1", [0.0, 0.3])
@pytest.mark.parametrize("when", ["always", "never"])
def test_it_reaches_the_optimum_with_and_without_the_pass(c1, when):
    problem = small_problem(c1=c1)
    result = minimize(problem, Auto(adaptive_pass=when), stop=[CertifiedGap(1e-6), MaxIterations(300)])
    assert result.status == "converged"
    objectives = [row["objective"] for row in result.trace]
    assert objectives == sorted(objectives, reverse=True)
    assert result.trace[1]["passes"] >= (3.0 if when == "always" else 2.0)


def test_every_pass_over_the_data_is_counted(monkeypatch):
    problem, evaluations = small_problem(), []
    gradient = problem.gradient
    monkeypatch.setattr(problem, "gradient", lambda w: evaluations.append(1) or gradient(w))
    steps = list(islice(Auto(adaptive_pass="always").iterate(problem, zeros(problem)), 9))
    assert sum(step.passes for step in steps) == len(evaluations) + 1


def test_a_pass_that_does_not_pay_is_dropped():
    problem = small_problem(c2=300.0)  # the penalty holds the weights near zero, and the pass knows nothing of it
    start, back, *rest = islice(Auto(adaptive_pass="always", eta=5.0).iterate(problem, zeros(problem)), 6)
    np.testing.assert_array_equal(back.weights, start.weights)
    assert back.passes == 2
    assert rest[-1].objective < start.objective


def test_a_start_that_is_not_zero_is_not_left_for_the_pass():
    problem = small_problem()
    best = minimize(problem, Auto(), stop=[CertifiedGap(1e-8), MaxIterations(300)])
    for step in islice(Auto(adaptive_pass="always").iterate(problem, best.weights.copy()), 4):
        assert step.objective <= best.trace[-1]["objective"] * (1 + 1e-9)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_run_with_a_pass_goes_on_bit_for_bit(k):
    problem, solver = small_problem(), Auto(adaptive_pass="always", seed=5)
    run = solver.iterate(problem, zeros(problem))
    there = next(islice(run, k, None))
    state = {name: np.array(value) for name, value in there.state.items()}
    rest = [step.weights.copy() for step in islice(run, 4)]
    resumed = solver.iterate(problem, zeros(problem), state)
    assert next(resumed).passes == 0
    for expected, step in zip(rest, resumed, strict=False):
        np.testing.assert_array_equal(step.weights, expected)


def test_a_pass_that_is_broken_off_begins_again(monkeypatch):
    problem, solver = small_problem(), Auto(adaptive_pass="always")
    undisturbed = [step.weights.copy() for step in islice(solver.iterate(problem, zeros(problem)), 3)]
    run = solver.iterate(problem, zeros(problem))
    start = next(run).weights.copy()
    monkeypatch.setattr(problem, "asked_to_stop", lambda: True)
    np.testing.assert_array_equal(next(run).weights, start)
    monkeypatch.setattr(problem, "asked_to_stop", lambda: False)
    for expected, step in zip(undisturbed[1:], run, strict=False):
        np.testing.assert_array_equal(step.weights, expected)


@pytest.mark.parametrize(("c1", "when"), [(0.0, "never"), (0.0, "always"), (0.3, "always")])
def test_single_precision_comes_first_and_proves_nothing(c1, when):
    problem = small_problem(c1=c1, c2=0.02)
    solver = Auto(single_precision="always", target=1e-3, adaptive_pass=when)
    result = minimize(problem, solver, stop=[CertifiedGap(1e-5), MaxIterations(300)])
    assert result.status == "converged"
    rough = [row for row in result.trace if "objective_estimate" in row]
    assert len(rough) > 2 * SLICE
    assert all(row["objective"] is row["gap"] is row["gradient_norm"] is None for row in rough)
    numbers = [row["step"] for row in rough]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))  # and never again
    first_exact = result.trace[numbers[-1] + 1]
    assert first_exact["objective"] == pytest.approx(rough[-1]["objective_estimate"], rel=1e-6)
    exact = minimize(problem, Auto(), stop=[CertifiedGap(1e-7), MaxIterations(300)])
    assert result.certificate.lower_bound <= exact.certificate.objective
    assert result.certificate.objective <= exact.certificate.objective * (1 + 1e-5)
    assert result.certificate.objective == pytest.approx(evaluate(problem, result.weights)[0], rel=1e-12)


def test_exact_steps_begin_where_the_rough_ones_end():
    problem = small_problem(c2=0.02)
    run = Auto(single_precision="always", target=1e-3).iterate(problem, zeros(problem))
    steps = [(step.weights.copy(), step.objective) for step in islice(run, 60)]
    switch = next(k for k in range(2, 60) if steps[k - 1][1] is None and steps[k][1] is not None)
    np.testing.assert_array_equal(steps[switch][0], steps[switch - 1][0])
    assert steps[switch][1] == evaluate(problem, steps[switch][0])[0]


@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_a_run_in_two_precisions_goes_on_bit_for_bit_from_any_step(c1):
    problem = small_problem(c1=c1, c2=0.02)
    solver = Auto(single_precision="always", target=1e-3)
    run, seen = solver.iterate(problem, zeros(problem)), []
    for step in islice(run, 40):
        state = {name: np.array(value) for name, value in step.state.items()}
        seen.append((step.weights.copy(), step.objective, state))
    assert {objective is None for _, objective, _ in seen} == {True, False}
    for (weights, objective, state), after in pairwise(seen):
        again, following = islice(solver.iterate(problem, zeros(problem), state), 2)
        assert again.passes == 0
        assert again.objective == objective
        np.testing.assert_array_equal(again.weights, weights)
        np.testing.assert_array_equal(following.weights, after[0])
        assert following.objective == after[1]


def test_a_run_that_was_stopped_among_its_rough_steps_goes_on_from_a_checkpoint(tmp_path):
    problem, solver = small_problem(c2=0.02), Auto(single_precision="always", target=1e-3)
    whole = minimize(problem, solver, stop=[CertifiedGap(1e-4)])
    stopped = minimize(problem, solver, stop=[MaxIterations(6)], checkpoint=Checkpoint(tmp_path / "run", every=0.0))
    assert "objective_estimate" in stopped.trace[-1]
    assert stopped.certificate.objective == pytest.approx(evaluate(problem, stopped.weights)[0], rel=1e-12)
    checkpoint = Checkpoint(tmp_path / "run", resume=True)
    resumed = minimize(problem, solver, stop=[CertifiedGap(1e-4)], checkpoint=checkpoint)
    np.testing.assert_array_equal(resumed.weights, whole.weights)
    assert resumed.certificate == whole.certificate


def test_what_is_carried_from_a_rough_step_stays_rough():
    before = small_problem(c2=0.02)
    now = before.with_penalty(0.0, 0.01)
    *_, step = islice(Auto(single_precision="always", target=1e-3).iterate(before, zeros(before)), 5)
    carried = Auto.carried(step.state, before, now)
    assert len(carried["recent"]) == 0
    first, second = islice(Auto().iterate(now, zeros(now), carried), 2)
    assert first.objective is second.objective is None
    assert first.info["objective_estimate"] == pytest.approx(now.value(step.weights), rel=1e-6)
    assert second.info["objective_estimate"] < first.info["objective_estimate"]


def test_what_is_left_to_gain_is_reported_from_what_was_gained():
    falling = [100.0 + 7.0 * 0.8**k for k in range(40)]
    for n in (2 * SLICE + 1, 20, 40):
        assert remaining_gap(falling[:n]) == pytest.approx(falling[n - 1] - 100.0)
    assert kept(falling) == falling[-2 * SLICE - 1 :]
    assert remaining_gap(falling[: 2 * SLICE]) == math.inf
    assert remaining_gap([100.0 - k * k for k in range(20)]) == math.inf  # faster and faster
    assert remaining_gap([5.0] * 20) == 0.0
    assert is_near(falling[:30], 1e-2)
    assert not is_near(falling[:14], 1e-3)
    assert is_near([*falling, 100.0], 1e-9)  # below what singles can tell


def test_single_precision_is_for_long_fits_of_problems_that_have_it(monkeypatch):
    problem = small_problem()
    aiming = Auto(single_precision="if long", target=1e-3)
    assert aiming.decided(problem).single_precision == "never"
    monkeypatch.setattr(auto, "LONG_ENOUGH_TO_COMPILE", gradient_seconds(problem))
    assert aiming.decided(problem).single_precision == "always"
    assert Auto(single_precision="always", target=1e-3).decided(ToyProblem(c2=0.1)).single_precision == "never"


def test_a_warm_up_on_two_sequences_goes_the_way_of_the_whole(monkeypatch):
    problem = small_problem()
    monkeypatch.setattr(auto, "LONG", gradient_seconds(problem))
    solver = Auto().decided(problem)
    small = Problem(first_sequences(problem.corpus, 2), problem.features, 0.0, 0.5)
    assert Auto().decided(small).adaptive_pass == "never"
    assert solver.decided(small) == solver
    assert solver.adaptive_pass == "always"


def test_pairs_are_as_many_as_are_cheap():
    problem = small_problem()
    whole = 1e6  # of a gradient: it is a small problem
    all_of_it, half = (affordable_pairs(problem, share, 0, 10**9) for share in (whole, 0.5 * whole))
    assert all_of_it == pytest.approx(2 * half, abs=1)
    assert half > 100
    assert [affordable_pairs(problem, share, 3, half) for share in (0.0, whole)] == [3, half]


def test_many_weights_leave_space_for_few_pairs(monkeypatch):
    problem = small_problem()
    for workspace, pairs in ((9 * 8 * problem.n_weights, 9), (1, auto.FEWEST_PAIRS)):
        monkeypatch.setattr(auto, "ROOM", workspace)
        assert Auto().decided(problem).pairs == pairs
    assert Auto(pairs=30).decided(problem).pairs == 30


def test_a_metric_that_leads_nowhere_is_dropped(monkeypatch):
    problem = small_problem()
    monkeypatch.setattr(auto, "preconditioner_of", np.zeros_like)
    result = minimize(problem, Auto(), stop=[CertifiedGap(1e-4), MaxIterations(400)])
    assert result.status == "converged"
    np.testing.assert_array_equal(result.state["scale"], 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adaptive_pass": "yes"}, "adaptive_pass must be one of if long, always, never"),
        ({"pairs": 0}, "pairs"),
        ({"eta": 0.0}, "eta"),
        ({"seed": -1}, "seed"),
        ({"single_precision": "yes"}, "single_precision must be one of if long, always, never"),
        ({"target": 0.0}, "target"),
    ],
)
def test_wrong_options_raise_an_error(options, message):
    with pytest.raises(ValueError, match=f"auto: {message}"):
        Auto(**options)


def test_a_problem_without_sequences_will_do():
    toy = ToyProblem(c2=0.1)
    last = list(islice(Auto(adaptive_pass="always").iterate(toy, np.zeros(toy.n_weights)), 60))[-1]
    assert np.abs(last.gradient).max() < 1e-4
