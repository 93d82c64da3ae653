"""Quasi-Newton methods on samples against plain twins, step by step."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.quasi_newton.hybrid import Hybrid
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.olbfgs import OLBFGS
from fastcrf.solvers.quasi_newton.sample import Sample
from fastcrf.stochastic.sampling import epoch_permutation, first_order
from reference import plain_samples
from reference.random_corpora import learnable_corpus, random_corpus, random_features

N = 12


def small_problem(c2=0.3, given=True):
    corpus = random_corpus(3, lengths=(3, 1, 4, 2, 3, 2) * 2, values=given, weights=given)
    return Problem(corpus, random_features(3), c2=c2)


@pytest.mark.parametrize(("c2", "given"), [(0.3, False), (0.3, True), (5.0, False)])
def test_hybrid_equals_its_reference_while_the_batch_grows(c2, given):
    problem, passes, batches = small_problem(c2, given), 0.0, []
    steps = Hybrid(growth=1.2, seed=7).iterate(problem, np.zeros(problem.n_weights))
    twin = plain_samples.hybrid(problem.corpus, problem.features, c2, first_order(7, N), growth=1.2)
    for (w, evaluations), step in zip(twin, steps, strict=False):
        passes += step.passes
        batches.append(step.state["batch_size"])
        np.testing.assert_allclose(step.weights, w, rtol=1e-9, atol=1e-10)
        assert passes * N == pytest.approx(evaluations)
    assert batches == [0, 1, 3, 5, 7, 10]


def test_hybrid_ends_as_lbfgs_with_the_pairs_that_it_has():
    problem = small_problem()
    steps = Hybrid().iterate(problem, np.zeros(problem.n_weights))
    whole = next(step for step in steps if step.state["batch_size"] == N)
    assert whole.objective == pytest.approx(problem.value(whole.weights))
    state = {name: np.array(value) for name, value in whole.state.items() if name != "batch_size"}
    plain = LBFGS(pairs=10).iterate(problem, np.zeros(problem.n_weights), state)
    next(plain)
    for one, other in islice(zip(steps, plain, strict=False), 5):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one.passes == other.passes


def test_hybrid_begins_a_warm_start_with_all_sequences():
    problem = small_problem()
    first = next(Hybrid().iterate(problem, np.full(problem.n_weights, 0.1)))
    assert first.state["batch_size"] == N


@pytest.mark.parametrize(("batch", "trust"), [(3, 0.0), (5, 2.0)])
def test_olbfgs_equals_its_reference_update_by_update(batch, trust):
    problem = small_problem()
    solver = OLBFGS(batch_size=batch, pairs=4, eta=0.5, tau=10.0, trust=trust, seed=7, steps_per_epoch=N)
    orders = [epoch_permutation(7, epoch, N) for epoch in range(3)]
    batches = [order[k : k + batch] for order in orders for k in range(0, N, batch)]
    twin = plain_samples.olbfgs(problem.corpus, problem.features, 0.3, batches, 0.5, 10.0, trust, memory=4)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    assert next(steps).passes == 0.0
    for w, sample in zip(twin, batches, strict=True):
        step = next(steps)
        np.testing.assert_allclose(step.weights, w, rtol=1e-8, atol=1e-9)
        assert step.passes == pytest.approx(2 * len(sample) / N)


def test_the_objective_of_a_sample_of_all_is_the_objective():
    problem = small_problem()
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    value, gradient = Sample(problem, np.arange(N)).gradient(w)
    expected = problem.gradient(w)
    assert value == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-10)


class Impatient(Problem):
    """A problem that asks to stop after each batch."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.asked_to_stop = lambda: True


def test_olbfgs_that_is_stopped_and_resumed_within_epochs_equals_one_that_is_not():
    corpus, features = learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0)
    whole, stopped = Problem(corpus, features, c2=0.5), Impatient(corpus, features, c2=0.5)
    start, solver = np.zeros(whole.n_weights), OLBFGS(batch_size=2)
    step = next(solver.iterate(stopped, start.copy()))
    for expected in islice(solver.iterate(whole, start.copy()), 4):
        while step.state["epoch"] < expected.state["epoch"]:
            step = next(islice(solver.iterate(stopped, start.copy(), step.state), 1, None))
        np.testing.assert_array_equal(step.weights, expected.weights)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"eta": 0.0}, {"tau": -1.0}, {"trust": -1.0}])
def test_a_wrong_option_raises_an_error(options):
    with pytest.raises(ValueError, match=r"olbfgs: .* must be .*\.$"):
        OLBFGS(**options)
