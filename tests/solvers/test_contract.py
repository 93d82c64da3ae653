"""Every registered solver keeps the contract of `fastcrf.solvers.registry`. A new solver joins by its registry line."""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.training.trace import COLUMNS
from fastcrf.types import Diverged, Solver
from reference.random_corpora import learnable_corpus, random_corpus, random_features

C1_C2 = {"none": (0.0, 0.0), "l1": (1.0, 0.0), "l2": (0.0, 1.0), "l1+l2": (0.5, 0.5)}
CASES = [
    (name, kind)
    for name in registry.names()
    for kind in registry.PENALTIES
    if kind in registry.solver_class(name).handles
]
BATCH_CASES = [case for case in CASES if registry.solver_class(case[0]).needs == {"gradient"}]
each_case = pytest.mark.parametrize(("name", "kind"), CASES)
each_penalised_case = pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[1] != "none"])
each_solver = pytest.mark.parametrize("name", registry.names())


class Counted:
    """A problem that counts its evaluations of the data, in passes, and can be made to fail."""

    def __init__(self, problem):
        self.problem, self.passes, self.poisoned = problem, 0, False

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def value(self, w):
        self.passes += 1
        return self.problem.value(w)

    def gradient(self, w):
        self.passes += 1
        value, gradient = self.problem.gradient(w)
        return (np.nan, np.full_like(gradient, np.nan)) if self.poisoned else (value, gradient)


def small_problem(kind, seed=0):
    corpus = learnable_corpus(seed, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3)
    return Counted(Problem(corpus, random_features(seed), *C1_C2[kind]))


def zeros(problem):
    return np.zeros(problem.n_weights)


def keep(memory):
    return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in memory.items()}


@each_solver
def test_a_word_is_no_truth_value(name):
    """On the command line, `-o skipping=no` is a word; as a truth value it would be True."""
    for option in (option for option, default in registry.options_of(name).items() if isinstance(default, bool)):
        with pytest.raises(ValueError, match=f"{name}: {option} must be true or false; got {option}='no'"):
            registry.make(name, **{option: "no"})


@each_solver
def test_it_is_a_solver_with_options_that_work_as_they_are(name):
    solver = registry.make(name)
    assert isinstance(solver, Solver)
    assert solver.handles <= set(registry.PENALTIES)
    assert registry.solver_class(name)(**registry.options_of(name)) == solver


@each_solver
def test_its_listing_names_the_paper_with_its_year(name):
    assert any(word.strip("(),.:").isdigit() for word in registry.describe(name)["paper"].split())


@each_case
def test_the_first_step_is_the_start(name, kind):
    problem = small_problem(kind)
    start = np.random.default_rng(0).normal(size=problem.n_weights) * 0.1
    first = next(registry.make(name).iterate(problem, start.copy()))
    np.testing.assert_array_equal(first.weights, start)


@each_penalised_case
def test_it_comes_close_to_the_optimum(name, kind):
    problem = small_problem(kind)
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 300):
        if problem.certificate(step.weights).relative < 1e-4:
            return
    pytest.fail(f"{name} is not within 1e-4 of the optimum after 300 steps")


@each_case
def test_the_objective_and_gradient_of_a_step_are_those_of_its_weights(name, kind):
    problem = small_problem(kind)
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 6):
        if step.objective is not None:
            assert step.objective == pytest.approx(problem.value(step.weights), rel=1e-10)
        if step.gradient is not None:
            np.testing.assert_allclose(step.gradient, problem.gradient(step.weights)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "kind"), BATCH_CASES)
def test_passes_count_every_evaluation(name, kind):
    """Evaluations of single sequences happen in compiled code, where a solver's own tests must count them."""
    problem = small_problem(kind)
    counted = 0.0
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 15):
        counted += step.passes
        assert counted == problem.passes


@each_case
def test_info_holds_numbers_under_names_of_its_own(name, kind):
    problem = small_problem(kind)
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 4):
        assert not set(step.info) & set(COLUMNS)
        assert all(isinstance(number, int | float) for number in step.info.values())


@each_case
def test_the_same_run_twice_gives_the_same_steps(name, kind):
    problem = small_problem(kind)
    runs = [registry.make(name).iterate(problem, zeros(problem)) for _ in range(2)]
    for one, other in islice(zip(*runs, strict=True), 10):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one[1:3] == other[1:3]


@each_case
def test_reading_or_spoiling_a_copy_of_a_step_does_not_change_the_run(name, kind):
    problem = small_problem(kind)
    undisturbed = [step.weights.copy() for step in islice(registry.make(name).iterate(problem, zeros(problem)), 6)]
    kept = []
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 6):
        problem.value(step.weights)
        kept.append(step.weights.copy())
    np.testing.assert_array_equal(kept, undisturbed)


@each_case
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_the_memory_of_step_k_gives_step_k_plus_1_bit_for_bit(name, kind, k):
    problem = small_problem(kind)
    run = registry.make(name).iterate(problem, zeros(problem))
    there = next(islice(run, k, None))
    memory, weights = keep(there.memory), there.weights.copy()
    rest = [step.weights.copy() for step in islice(run, 8)]
    untouched = keep(memory)
    resumed = registry.make(name).iterate(problem, zeros(problem), memory)
    first = next(resumed)
    assert first.passes == 0
    np.testing.assert_array_equal(first.weights, weights)
    for expected, step in zip(rest, resumed, strict=False):
        np.testing.assert_array_equal(step.weights, expected)
    for array, before in zip(memory.values(), untouched.values(), strict=True):
        np.testing.assert_array_equal(array, before)


@each_case
@pytest.mark.parametrize("after", [0, 1, 3])
def test_it_may_be_closed_at_any_step(name, kind, after):
    problem = small_problem(kind)
    run = registry.make(name).iterate(problem, zeros(problem))
    for _ in range(after):
        next(run)
    run.close()
    assert list(run) == []


@each_penalised_case
def test_started_at_the_optimum_it_ends_there(name, kind):
    problem = small_problem(kind)
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 300):
        optimum = step.weights.copy()
    lowest = problem.value(optimum)
    for step in islice(registry.make(name).iterate(problem, optimum), 60):
        reached = problem.value(step.weights)
    assert reached <= lowest * (1 + 1e-3)


@each_case
def test_a_problem_that_turns_into_nan_yields_no_such_weights_unless_it_says_diverged(name, kind):
    problem = small_problem(kind)
    run = registry.make(name).iterate(problem, zeros(problem))
    next(run)
    problem.poisoned = True
    with suppress(Diverged):
        for step in islice(run, 3):
            assert np.isfinite(step.weights).all()


@each_case
def test_steps_do_not_pile_up_memory(name, kind):
    """One vector kept at each step would be 20 kB a step; Python's own free lists are let off with 200 kB in all."""
    corpus, features = random_corpus(0, n_attributes=1500), random_features(0, n_attributes=1500)
    problem = Problem(corpus, features, *C1_C2[kind])
    steps = registry.make(name).iterate(problem, zeros(problem))
    for step in islice(steps, 15):  # curvature pairs fill up
        size = sum(np.asarray(value).nbytes for value in step.memory.values())
    tracemalloc.start()
    try:
        for step in islice(steps, 20):
            assert sum(np.asarray(value).nbytes for value in step.memory.values()) <= size
        del step
        gc.collect()  # NumPy's generators are cycles
        assert tracemalloc.get_traced_memory()[0] < 200_000
    finally:
        tracemalloc.stop()


@each_case
def test_one_weight_and_one_sequence_will_do(name, kind):
    corpus = random_corpus(1, lengths=[2], n_labels=2, n_attributes=1)
    problem = Problem(corpus, random_features(1, n_labels=2, n_attributes=1, density=1.0), *C1_C2[kind])
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 5):
        assert np.isfinite(step.weights).all()
