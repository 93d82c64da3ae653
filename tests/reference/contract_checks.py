"""The clauses of `fastcrf.solvers.contract` as functions, which raise AssertionError for a solver that breaks one.

`tests/solvers/test_contract.py` calls them for every registered solver, `test_contract_controls.py` for solvers that
are broken on purpose. `kind` is a penalty: none, l1, l2 or l1+l2.
"""

from __future__ import annotations

import gc
import re
import tracemalloc
from functools import cache
from itertools import islice

import numpy as np
import pytest

from fastcrf.core.solver_state import AXES, check_state
from fastcrf.fitting.solver_choice import quasi_newton
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from fastcrf.training.trace import COLUMNS
from reference.random_corpora import learnable_corpus, random_corpus, random_features

C1_C2 = {"none": (0.0, 0.0), "l1": (1.0, 0.0), "l2": (0.0, 1.0), "l1+l2": (0.5, 0.5)}
NEAR = {
    "optimum": 1e-4,
    "optimum, slowly": 1e-4,
    "near the optimum": 0.02,
    "near the optimum, sparse": 0.05,
}  # relative gaps
STEPS = {"optimum, slowly": 1000}  # by guarantee; 300 for all others
SENTENCE = re.compile(r"[A-Z].*\.$", re.DOTALL)


class Counted:
    """A problem that counts its evaluations of the data, in passes."""

    def __init__(self, problem):
        self.problem, self.passes = problem, 0

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def value(self, w):
        self.passes += 1
        return self.problem.value(w)

    def gradient(self, w):
        self.passes += 1
        return self.problem.gradient(w)

    def expected_counts(self, w):
        self.passes += 1
        return self.problem.expected_counts(w)

    def expected_counts_by_sum(self, w, n_groups):
        self.passes += 1
        return self.problem.expected_counts_by_sum(w, n_groups)

    def subset_gradient(self, w, sequences):
        self.passes += len(sequences) / self.problem.n_sequences
        return self.problem.subset_gradient(w, sequences)

    def hessian_product(self, w, direction):
        self.passes += 1
        return self.problem.hessian_product(w, direction)

    def sequence_hessian_product(self, w, direction, sequences):
        self.passes += len(sequences) / self.problem.n_sequences
        return self.problem.sequence_hessian_product(w, direction, sequences)

    def curvature(self, kept=None):
        return CountedCurvature(self, self.problem.curvature(kept))

    def differentiated_curvature(self):
        return CountedCurvature(self, self.problem.differentiated_curvature())


class CountedCurvature:
    """A point of curvature whose gradients and products count, one pass each, in the passes of its problem."""

    def __init__(self, counted, point):
        self.counted, self.point = counted, point

    def gradient(self, w):
        self.counted.passes += 1
        return self.point.gradient(w)

    def product(self, direction):
        self.counted.passes += 1
        return self.point.product(direction)


def small_problem(kind, seed=0):
    corpus = learnable_corpus(seed, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3)
    return Counted(Problem(corpus, random_features(seed), *C1_C2[kind]))


def poisoned_problem(kind):
    """Encoded sequences, one value of which is infinite. The encoder would have raised an error."""
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4])
    values = np.ones(len(corpus.attributes))
    values[len(values) // 2] = np.inf
    return Problem(corpus._replace(values=values), random_features(0), *C1_C2[kind])


def zeros(problem):
    return np.zeros(problem.n_weights)


def some_weights(problem):
    return np.random.default_rng(0).normal(size=problem.n_weights) * 0.1


def steps_of(solver, problem, n, state=None):
    """The first n Steps from zeros; their weights are the solver's own arrays."""
    return islice(solver.iterate(problem, zeros(problem), state), n)


@cache
def optimum(kind):
    """The weights with the lowest objective of the small problem, and that objective."""
    problem = small_problem(kind).problem
    solver = registry.make(quasi_newton(problem.c1), pairs=20)
    result = minimize(problem, solver, stop=[CertifiedGap(1e-9), MaxIterations(3000)])
    return result.weights, problem.value(result.weights)


def keep(state):
    return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}


def assert_the_first_step_is_the_start(solver, kind):
    problem = small_problem(kind)
    start = some_weights(problem)
    first = next(solver.iterate(problem, start.copy()))
    np.testing.assert_array_equal(first.weights, start)


def assert_starts_at_a_dual_point(solver, kind):
    """Its first Steps have a dual value below the optimum, and given weights raise ValueError."""
    problem = small_problem(kind)
    for step in steps_of(solver, problem, 4):
        assert step.lower_bound <= optimum(kind)[1] <= problem.value(step.weights)
    with pytest.raises(ValueError, match=f"{solver.name} starts at the weights of its own"):
        next(solver.iterate(problem, some_weights(problem)))


def assert_the_dual_value_reaches_the_optimum(solver, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    bounds = (step.lower_bound for step in steps_of(solver, problem, 300))
    assert any(bound >= lowest * (1.0 - NEAR["optimum"]) for bound in bounds)


def assert_it_keeps_its_guarantee(solver, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    near = NEAR[solver.guarantee]
    values = (problem.value(step.weights) for step in steps_of(solver, problem, STEPS.get(solver.guarantee, 300)))
    assert any(value <= lowest * (1.0 + near) for value in values), f"not within {near} of the optimum"


def assert_objective_and_gradient_are_those_of_the_weights(solver, kind):
    problem = small_problem(kind)
    for step in steps_of(solver, problem, 6):
        if step.objective is not None:
            assert step.objective == pytest.approx(problem.value(step.weights), rel=1e-10)
        if step.gradient is not None:
            np.testing.assert_allclose(step.gradient, problem.gradient(step.weights)[1], rtol=1e-9, atol=1e-9)


def assert_bounds_are_below_the_optimum(solver, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    for step in steps_of(solver, problem, 6):
        assert step.lower_bound is None or step.lower_bound <= lowest * (1.0 + 1e-9)


def assert_info_has_numbers_under_names_of_its_own(solver, kind):
    for step in steps_of(solver, small_problem(kind), 4):
        assert not set(step.info) & set(COLUMNS)
        assert all(isinstance(number, int | float) for number in step.info.values())


def assert_the_state_is_as_declared(solver, kind):
    problem = small_problem(kind)
    for step in steps_of(solver, problem, 3):
        required = {item for item, field in solver.state_fields.items() if not field.optional}
        assert required <= set(step.state) <= set(solver.state_fields)
        check_state(solver.name, solver.state_fields, step.state, problem.n_weights)
        for item, value in step.state.items():
            field, array = solver.state_fields[item], np.asarray(value)
            assert field.axis in AXES
            assert array.dtype.kind == np.dtype(field.dtype).kind


def assert_passes_count_every_evaluation(solver, kind):
    """Evaluations of single sequences happen in compiled code, where a solver's own tests must count them."""
    problem, counted = small_problem(kind), 0.0
    for step in steps_of(solver, problem, 15):
        counted += step.passes
        assert counted == pytest.approx(problem.passes, rel=1e-12)  # shares of a pass do not add up exactly


def assert_a_run_can_be_repeated(solver, kind):
    problem = small_problem(kind)
    runs = [solver.iterate(problem, zeros(problem)) for _ in range(2)]
    for one, other in islice(zip(*runs, strict=True), 10):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one[1:3] == other[1:3]


def assert_reading_a_step_changes_nothing(solver, kind):
    undisturbed = [step.weights.copy() for step in steps_of(solver, small_problem(kind), 6)]
    problem, kept = small_problem(kind), []
    for step in steps_of(solver, problem, 6):
        problem.value(step.weights)
        kept.append(step.weights.copy())
    np.testing.assert_array_equal(kept, undisturbed)


def assert_the_state_of_a_step_gives_the_rest_of_the_run(solver, kind, after=(0, 1, 4, 9)):
    """Bit for bit; the first Step of the rest is that Step again, at no passes, and the given state stays as it is."""
    problem = small_problem(kind)
    run = [(keep(step.state), step.weights.copy()) for step in steps_of(solver, problem, max(after) + 9)]
    for k in sorted({min(k, len(run) - 1) for k in after}):  # some runs have nothing left to gain before that
        state, weights = run[k]
        untouched = keep(state)
        resumed = solver.iterate(problem, zeros(problem), state)
        first = next(resumed)
        assert first.passes == 0
        np.testing.assert_array_equal(first.weights, weights)
        for (_, expected), step in zip(run[k + 1 : k + 9], resumed, strict=False):
            np.testing.assert_array_equal(step.weights, expected)
        for array, before in zip(state.values(), untouched.values(), strict=True):
            np.testing.assert_array_equal(array, before)


def assert_it_may_be_closed(solver, kind):
    problem = small_problem(kind)
    run = solver.iterate(problem, zeros(problem))
    next(run)
    next(run)
    run.close()  # RuntimeError if it goes on


def assert_it_stays_at_the_optimum(solver, kind):
    problem, (best, lowest) = small_problem(kind), optimum(kind)
    for step in islice(solver.iterate(problem, best.copy()), 8):
        assert problem.value(step.weights) <= lowest * (1 + 1e-3)


def assert_it_notices_divergence(solver, kind):
    result = minimize(poisoned_problem(kind), solver, stop=[MaxIterations(30)])
    assert result.status == "diverged"
    assert np.isfinite(result.weights).all()


def cut(array):
    return array[..., :1]


def without_numbers(array):
    return np.full_like(array, {"f": np.nan, "i": -2, "u": 255}[array.dtype.kind])


def assert_a_spoilt_state_raises(solver, kind):
    """What comes from a file is checked before a kernel sees it, whatever the array."""
    problem = small_problem(kind).problem
    (*_, there) = steps_of(solver, problem, 4)
    state = keep(there.state)
    for item in (item for item, value in state.items() if isinstance(value, np.ndarray)):
        for spoil in (cut, without_numbers):
            spoilt = spoil(state[item])
            if spoilt.shape == state[item].shape and np.array_equal(spoilt, state[item]):
                continue
            if spoil is cut and solver.state_fields[item].axis == "none":  # a shorter list may be a good one
                continue
            assert SENTENCE.match(error_of(problem, solver, {**state, item: spoilt}))
    del state["weights"]
    lacking = f"The saved state of {solver.name} cannot be used: it lacks 'weights'"
    assert error_of(problem, solver, state).startswith(lacking)


def error_of(problem, solver, state):
    """The text of the ValueError that a state causes."""
    try:
        minimize(problem, solver, state=state, stop=[MaxIterations(1)])
    except ValueError as error:
        return str(error)
    raise AssertionError("a spoilt state was taken")


def weights_and_epochs(solver, problem, n):
    return [(step.weights.copy(), step.state["epoch"]) for step in steps_of(solver, problem, n)]


def assert_steps_within_an_epoch_are_points_of_the_same_run(solver, often, kind):
    """often: the solver with three Steps an epoch."""
    problem = small_problem(kind)
    whole, parts = weights_and_epochs(solver, problem, 4), weights_and_epochs(often, problem, 12)
    assert len({epoch for _, epoch in parts}) < len(parts)
    ends = {epoch: weights for weights, epoch in reversed(parts)}  # the first Step that has the number of an epoch
    for weights, epoch in whole:
        if epoch in ends:
            np.testing.assert_allclose(ends[epoch], weights, rtol=1e-9, atol=1e-10)


def assert_steps_do_not_pile_up_memory(solver, kind):
    """One vector kept at each step would be 400 kB in all. Arrays alone count: a kernel may be compiled here."""
    corpus, features = random_corpus(0, n_attributes=1500), random_features(0, n_attributes=1500)
    problem = Problem(corpus, features, *C1_C2[kind])
    steps = solver.iterate(problem, zeros(problem))
    size = 0
    for step in islice(steps, 52):  # curvature pairs fill up, though a solver may have dropped them again
        size = max(size, sum(np.asarray(value).nbytes for value in step.state.values()))
    tracemalloc.start()
    try:
        for step in islice(steps, 20):
            assert sum(np.asarray(value).nbytes for value in step.state.values()) <= size
        del step
        gc.collect()  # NumPy's generators are cycles
        arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        held = tracemalloc.take_snapshot().filter_traces([arrays])
        assert sum(trace.size for trace in held.traces) < 300_000
    finally:
        tracemalloc.stop()


def assert_one_weight_and_one_sequence_will_do(solver, kind):
    corpus = random_corpus(1, lengths=[2], n_labels=2, n_attributes=1)
    problem = Problem(corpus, random_features(1, n_labels=2, n_attributes=1, density=1.0), *C1_C2[kind])
    for step in steps_of(solver, problem, 5):
        assert np.isfinite(step.weights).all()
