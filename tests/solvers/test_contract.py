"""Every registered solver keeps `fastcrf.solvers.contract`. A new solver joins by its registry line.

Two of the checks are functions of a solver, so that tests at the end can show that they fail for a broken one.
"""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc
from contextlib import suppress
from functools import cache
from itertools import islice

import numpy as np
import pytest

from fastcrf.memory import AXES, check_memory
from fastcrf.objective.capabilities import CAPABILITIES, Objective
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.average_gradient.sag import SAG
from fastcrf.solvers.contract import PROMISES, Solver
from fastcrf.training.driver import minimize
from fastcrf.training.solver_choice import quasi_newton
from fastcrf.training.stopping import CertifiedGap, MaxSteps
from fastcrf.training.trace import COLUMNS
from fastcrf.types import Diverged
from reference.random_corpora import learnable_corpus, random_corpus, random_features

C1_C2 = {"none": (0.0, 0.0), "l1": (1.0, 0.0), "l2": (0.0, 1.0), "l1+l2": (0.5, 0.5)}
CASES = [
    (name, kind)
    for name in registry.names()
    for kind in registry.PENALTIES
    if kind in registry.solver_class(name).handles
]
BATCH_CASES = [case for case in CASES if "sequences" not in registry.solver_class(case[0]).needs]
each_case = pytest.mark.parametrize(("name", "kind"), CASES)


def starts_itself(name):
    """Whether a solver starts at weights of its own: those that its first dual point stands for."""
    return getattr(registry.solver_class(name), "starts", "given") == "own"


OWN_START = [case for case in CASES if starts_itself(case[0])]
GIVEN_START = [case for case in CASES if not starts_itself(case[0])]
PENALISED = [case for case in CASES if case[1] != "none"]
OPTIMISING = [case for case in PENALISED if registry.solver_class(case[0]).promises in ("optimum", "slow optimum")]
MINIMISING = [case for case in PENALISED if registry.solver_class(case[0]).promises != "no objective"]
NEAR = {
    "optimum": 1e-4,
    "slow optimum": 1e-4,
    "neighbourhood": 0.02,
    "sparse neighbourhood": 0.05,
}  # relative gaps, by promise
STEPS = {"slow optimum": 1000}  # by promise; 300 for all others
each_minimising_case = pytest.mark.parametrize(("name", "kind"), MINIMISING)
each_solver = pytest.mark.parametrize("name", registry.names())


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

    def expected_counts_by_mass(self, w, n_groups):
        self.passes += 1
        return self.problem.expected_counts_by_mass(w, n_groups)

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


def zeros(problem):
    return np.zeros(problem.n_weights)


@cache
def optimum(kind):
    """The weights with the lowest objective of the small problem, and that objective."""
    problem = small_problem(kind).problem
    solver = registry.make(quasi_newton(problem.c1), pairs=20)
    result = minimize(problem, solver, stop=[CertifiedGap(1e-9), MaxSteps(3000)])
    return result.weights, problem.value(result.weights)


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
    assert solver.needs <= set(CAPABILITIES)
    assert solver.promises in PROMISES
    assert registry.solver_class(name)(**registry.options_of(name)) == solver


@each_solver
def test_its_listing_names_the_paper_with_its_year(name):
    assert any(word.strip("(),.:").isdigit() for word in registry.describe(name)["paper"].split())


def some_weights(problem):
    return np.random.default_rng(0).normal(size=problem.n_weights) * 0.1


@pytest.mark.parametrize(("name", "kind"), GIVEN_START)
def test_the_first_step_is_the_start(name, kind):
    problem = small_problem(kind)
    start = some_weights(problem)
    first = next(registry.make(name).iterate(problem, start.copy()))
    np.testing.assert_array_equal(first.weights, start)


@pytest.mark.parametrize(("name", "kind"), OWN_START)
def test_a_start_of_its_own_is_that_of_a_dual_point_and_given_weights_are_refused(name, kind):
    """Its first Step, too, has a dual value below the optimum, and weights whose objective is above."""
    problem, solver = small_problem(kind), registry.make(name)
    for step in islice(solver.iterate(problem, zeros(problem)), 4):
        assert step.lower_bound <= optimum(kind)[1] <= problem.value(step.weights)
    with pytest.raises(ValueError, match=f"{name} starts at the weights of its own .* cannot start from given weights"):
        next(solver.iterate(problem, some_weights(problem)))


@pytest.mark.parametrize(("name", "kind"), OWN_START)
def test_the_dual_value_of_a_solver_with_a_start_of_its_own_comes_as_close_to_the_optimum(name, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 300):
        if step.lower_bound >= lowest * (1.0 - NEAR["optimum"]):
            return
    pytest.fail(f"the lower bound of {name} is {step.lower_bound}, the optimum {lowest}")


@each_minimising_case
def test_it_comes_as_close_to_the_optimum_as_it_promises(name, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    promise = registry.solver_class(name).promises
    near, n = NEAR[promise], STEPS.get(promise, 300)
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), n):
        if problem.value(step.weights) <= lowest * (1.0 + near):
            return
    pytest.fail(f"{name} is not within {near} of the optimum after {n} steps")


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
        assert counted == pytest.approx(problem.passes, rel=1e-12)  # shares of a pass do not add up exactly


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
    *_, there = islice(run, k + 1)  # its last Step, where a run has nothing left to gain before that
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


def assert_stays_at_the_optimum(solver, kind):
    problem, (best, lowest) = small_problem(kind), optimum(kind)
    for step in islice(solver.iterate(problem, best.copy()), 8):
        assert problem.value(step.weights) <= lowest * (1 + 1e-3)


@pytest.mark.parametrize(("name", "kind"), [case for case in OPTIMISING if case in GIVEN_START])
def test_started_at_the_optimum_it_stays_there_from_the_first_step_on(name, kind):
    assert_stays_at_the_optimum(registry.make(name), kind)


def poisoned_problem(kind):
    """Encoded sequences, one value of which is infinite. The encoder would have refused it."""
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4])
    values = np.ones(len(corpus.attributes))
    values[len(values) // 2] = np.inf
    return Problem(corpus._replace(values=values), random_features(0), *C1_C2[kind])


def assert_notices_divergence(solver, kind):
    result = minimize(poisoned_problem(kind), solver, stop=[MaxSteps(30)])
    assert result.status == "diverged"
    assert np.isfinite(result.weights).all()


@each_case
def test_data_that_lead_to_infinity_end_the_run_as_diverged(name, kind):
    assert_notices_divergence(registry.make(name), kind)


@each_case
def test_the_memory_holds_what_the_solver_declares(name, kind):
    problem, solver = small_problem(kind), registry.make(name)
    for step in islice(solver.iterate(problem, zeros(problem)), 3):
        required = {item for item, kept in solver.keeps.items() if not kept.optional}
        assert required <= set(step.memory) <= set(solver.keeps)
        check_memory(name, solver.keeps, step.memory, problem.n_weights)
        for item, value in step.memory.items():
            kept, array = solver.keeps[item], np.asarray(value)
            assert kept.axis in AXES
            assert array.dtype.kind == np.dtype(kept.dtype).kind


def cut(array):
    return array[..., :1]


def without_numbers(array):
    return np.full_like(array, {"f": np.nan, "i": -2, "u": 255}[array.dtype.kind])


@each_case
@pytest.mark.parametrize("spoil", [cut, without_numbers])
def test_a_spoilt_memory_is_refused_with_a_sentence(name, kind, spoil):
    """What comes from a file is checked before a kernel sees it, whatever the array."""
    problem, solver = small_problem(kind).problem, registry.make(name)
    memory = keep(next(islice(solver.iterate(problem, zeros(problem)), 3, None)).memory)
    for item in (item for item, value in memory.items() if isinstance(value, np.ndarray)):
        spoilt = spoil(memory[item])
        if spoilt.shape == memory[item].shape and np.array_equal(spoilt, memory[item]):
            continue
        if spoil is cut and solver.keeps[item].axis == "none":  # a shorter list may be a good one
            continue
        with pytest.raises(ValueError, match=r"[A-Z].*\.$"):
            minimize(problem, solver, memory={**memory, item: spoilt}, stop=[MaxSteps(1)])
    del memory["weights"]
    with pytest.raises(ValueError, match=f"The saved state of {name} cannot be used: it lacks 'weights'"):
        minimize(problem, solver, memory=memory, stop=[MaxSteps(1)])


@each_minimising_case
def test_the_lower_bound_of_a_step_is_below_the_optimum(name, kind):
    problem, lowest = small_problem(kind), optimum(kind)[1]
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 6):
        assert step.lower_bound is None or step.lower_bound <= lowest * (1.0 + 1e-9)


ALL_AT_ONCE = "eg"  # a step is one update from all sequences: it has no steps within
WITHIN_EPOCHS = [case for case in CASES if "drawn" in registry.solver_class(case[0]).keeps and case[0] != ALL_AT_ONCE]


@pytest.mark.parametrize(("name", "kind"), WITHIN_EPOCHS)
def test_steps_within_an_epoch_are_points_of_the_same_run(name, kind):
    problem = small_problem(kind)
    whole = list(weights_and_epochs(registry.make(name), problem, 4))
    often = list(weights_and_epochs(registry.make(name, steps_per_epoch=3), problem, 12))
    assert len({epoch for _, epoch in often}) < len(often)
    ends = {epoch: weights for weights, epoch in reversed(often)}  # the first Step that has the number of an epoch
    for weights, epoch in whole:
        if epoch in ends:
            np.testing.assert_allclose(ends[epoch], weights, rtol=1e-9, atol=1e-10)


def weights_and_epochs(solver, problem, n):
    for step in islice(solver.iterate(problem, zeros(problem)), n):
        yield step.weights.copy(), step.memory["epoch"]


@each_case
def test_steps_do_not_pile_up_memory(name, kind):
    """One vector kept at each step would be 400 kB in all. Arrays alone count: a kernel may be compiled here."""
    corpus, features = random_corpus(0, n_attributes=1500), random_features(0, n_attributes=1500)
    problem = Problem(corpus, features, *C1_C2[kind])
    steps = registry.make(name).iterate(problem, zeros(problem))
    size = 0
    for step in islice(steps, 52):  # curvature pairs fill up, though a solver may have dropped them again
        size = max(size, sum(np.asarray(value).nbytes for value in step.memory.values()))
    tracemalloc.start()
    try:
        for step in islice(steps, 20):
            assert sum(np.asarray(value).nbytes for value in step.memory.values()) <= size
        del step
        gc.collect()  # NumPy's generators are cycles
        arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        held = tracemalloc.take_snapshot().filter_traces([arrays])
        assert sum(trace.size for trace in held.traces) < 300_000
    finally:
        tracemalloc.stop()


@each_case
def test_one_weight_and_one_sequence_will_do(name, kind):
    corpus = random_corpus(1, lengths=[2], n_labels=2, n_attributes=1)
    problem = Problem(corpus, random_features(1, n_labels=2, n_attributes=1, density=1.0), *C1_C2[kind])
    for step in islice(registry.make(name).iterate(problem, zeros(problem)), 5):
        assert np.isfinite(step.weights).all()


@dataclasses.dataclass(frozen=True)
class Restless(SAG):
    """A solver that takes no notice of where it starts: its table of gradients is empty at the optimum, too."""

    def iterate(self, problem, weights, memory=None):
        steps = super().iterate(problem, np.zeros_like(weights), memory)
        yield next(steps)._replace(weights=weights)
        yield from steps


@dataclasses.dataclass(frozen=True)
class Deaf(SAG):
    """A solver that never looks at its numbers and hands out the last finite ones for ever."""

    def iterate(self, problem, weights, memory=None):
        steps = super().iterate(problem, weights, memory)
        first = next(steps)
        step = first._replace(weights=first.weights.copy())
        while True:
            yield step
            with suppress(Diverged, StopIteration):
                next(steps)


def test_a_solver_that_climbs_from_the_optimum_is_found_out():
    with pytest.raises(AssertionError):
        assert_stays_at_the_optimum(Restless(), "l2")


def test_a_solver_that_hides_divergence_is_found_out():
    with pytest.raises(AssertionError):
        assert_notices_divergence(Deaf(), "l2")


def test_problems_provide_what_they_say():
    problem = small_problem("l2").problem
    assert problem.provides == set(CAPABILITIES)
    for capability in problem.provides:
        assert isinstance(problem, CAPABILITIES[capability])
    assert isinstance(problem, Objective)
