"""SAGA of Proposition 1 against dense twins, draw by draw, and against the bounds that the proposition promises."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.core.types import Corpus
from fastcrf.objective.lipschitz_bounds import lipschitz_bounds
from fastcrf.objective.problem import Problem
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.sag.saga_fixed_probabilities import SAGAFixedProbabilities
from fastcrf.solvers.sag.saga_two_samples import SAGATwoSamples
from fastcrf.stochastic.sampling import epoch_uniforms
from reference import dense_saga
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2)


def small_problem(c2, values=False, weights=False):
    corpus = random_corpus(3, lengths=LENGTHS, values=values, weights=weights)
    return Problem(corpus, random_features(3), c2=c2)


def bounds_of(problem):
    return lipschitz_bounds(problem.corpus, problem.features)


def draws(seed, epochs):
    return np.concatenate([epoch_uniforms(seed, epoch, len(LENGTHS)) for epoch in range(epochs)])


def assert_epochs_agree(problem, solver, twin, epochs):
    """Weights, drift and passes agree after every epoch."""
    n = problem.n_sequences
    states = [(w.copy(), d.copy(), evaluations) for w, d, _, evaluations in twin]
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    passes = next(steps).passes
    assert passes == 1
    for epoch, step in enumerate(islice(steps, epochs), 1):
        w, d, evaluations = states[epoch * n - 1]
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.state["drift"], d, rtol=1e-9, atol=1e-11)
        assert passes * n == pytest.approx(evaluations)


def proportional(numbers):
    return np.asarray(numbers) / np.sum(numbers)


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("step", ["search", "theory"])
def test_saga_with_fixed_probabilities_equals_its_dense_reference_for_the_same_samples(c2, step):
    problem = small_problem(c2, values=True, weights=True)
    n, bounds = problem.n_sequences, bounds_of(problem)
    p = 0.5 / n + 0.5 * proportional(bounds)
    loss = EnumeratedLoss(problem.corpus, problem.features)
    twin = dense_saga.one_sample(loss, 2 * c2 / n, p, draws(7, 6), bounds.max(), step == "search")
    assert_epochs_agree(problem, SAGAFixedProbabilities(step=step, seed=7), twin, 6)


def test_it_draws_with_the_probabilities_that_it_is_given():
    problem, numbers = small_problem(0.3), [3, 1, 2, 1, 0.5, 2.5]
    loss = EnumeratedLoss(problem.corpus, problem.features)
    twin = dense_saga.one_sample(loss, 0.1, proportional(numbers), draws(1, 3), bounds_of(problem).max(), False)
    assert_epochs_agree(problem, SAGAFixedProbabilities(step="theory", sampling=numbers, seed=1), twin, 3)


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("step", ["search", "theory"])
def test_saga_two_samples_equals_its_dense_reference_for_the_same_samples(c2, step):
    problem = small_problem(c2, values=True, weights=True)
    n, loss = problem.n_sequences, EnumeratedLoss(problem.corpus, problem.features)
    pairs = np.concatenate([epoch_uniforms(7, epoch, 2 * n).reshape(n, 2) for epoch in range(8)])
    twin = dense_saga.two_samples(loss, 2 * c2 / n, pairs, bounds_of(problem), step == "search")
    assert_epochs_agree(problem, SAGATwoSamples(step=step, seed=7), twin, 8)


@pytest.mark.parametrize("numbers", [[1.0, 0.0], [1.0, -1.0], [1.0, float("nan")], ["a"], [True]])
def test_a_probability_that_is_not_above_zero_raises_an_error(numbers):
    with pytest.raises(ValueError, match=r"sampling\[[01]\] must be a number above 0"):
        SAGAFixedProbabilities(sampling=numbers)


@pytest.mark.parametrize("sampling", [5, None, True, "often"])
def test_a_sampling_that_is_neither_a_name_nor_numbers_is_a_sentence(sampling):
    with pytest.raises(ValueError, match="uniform, lipschitz, mixed, or one number for each sequence; got sampling="):
        SAGAFixedProbabilities(sampling=sampling)


def test_probabilities_may_be_an_array():
    numbers = np.array([3, 1, 2, 1, 0.5, 2.5])
    assert SAGAFixedProbabilities(sampling=numbers) == SAGAFixedProbabilities(sampling=list(numbers))
    np.testing.assert_array_equal(SAGAFixedProbabilities(sampling=numbers).probabilities(np.ones(6)), numbers)


def test_the_wrong_number_of_probabilities_raises_an_error():
    problem = small_problem(0.3)
    with pytest.raises(ValueError, match="one number for each of 6 samples; got 2"):
        next(SAGAFixedProbabilities(sampling=[0.5, 0.5]).iterate(problem, np.zeros(problem.n_weights)))


EPOCHS = 12
SEEDS = 200


def curved_problem():
    """Sequences whose Hessians at the optimum, near 0, are as large as their bounds, so that a step can be too long."""
    longs, labels = np.arange(9), np.array([0, 1] * 4, np.int32)
    attributes, values = np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int32), np.array([3.0] * 4 + [2.0] * 4)
    features = random_features(0, n_labels=2, n_attributes=2, density=1.0)
    problem = Problem(Corpus(longs, longs, attributes, values, labels, np.zeros(0)), features, c2=1.0)
    return problem, EnumeratedLoss(problem.corpus, features), 2.0 / problem.n_sequences


def optimum(problem):
    for step in islice(LBFGS().iterate(problem, np.zeros(problem.n_weights)), 30):
        best = step.weights.copy()
    assert problem.certificate(best).relative_gap < 1e-10
    return best


def beginning(problem):
    return 0.5 * np.random.default_rng(0).normal(size=problem.n_weights)


def mean_square_distances(paths, best):
    """The mean over many runs of |w - w*|^2 after each epoch, [EPOCHS + 1]."""
    return np.mean([[np.square(w - best).sum() for w in path] for path in paths], axis=0)


def paths_of(problem, solver):
    """The weights after each epoch, the start included, of a run for each seed."""
    for seed in range(SEEDS):
        steps = solver(seed).iterate(problem, beginning(problem))
        yield [step.weights.copy() for step in islice(steps, EPOCHS + 1)]


def bound_a(loss, lam, p, L, start, best):
    """What part (a) promises after each epoch."""
    n, L = loss.n, L + lam
    changes = [np.square(loss.gradient(i, start) - loss.gradient(i, best)).sum() for i in range(n)]
    constant = p.min() / (2 * L * (4 * L + n * lam)) * np.sum(changes / p)
    rate = 1 - lam * dense_saga.step_a(p, L - lam, lam)
    return rate ** (n * np.arange(EPOCHS + 1)) * (np.square(start - best).sum() + constant)


@pytest.mark.parametrize("sampling", ["uniform", "mixed"])
def test_the_bound_of_part_a_holds_in_the_mean(sampling):
    problem, loss, lam = curved_problem()
    best, bounds = optimum(problem), bounds_of(problem)
    p = proportional(bounds + bounds.mean() if sampling == "mixed" else np.ones(loss.n))
    bound = bound_a(loss, lam, p, bounds.max(), beginning(problem), best)

    def solver(seed):
        return SAGAFixedProbabilities(step="theory", sampling=sampling, seed=seed)

    seen = mean_square_distances(paths_of(problem, solver), best)
    assert (seen <= bound).all()
    assert seen[-1] < 0.2 * seen[0]  # the rate is one that can be seen


@pytest.mark.parametrize("factor", [20, 1 / 3])
def test_the_bound_of_part_a_does_not_hold_for_steps_much_longer_or_shorter(factor):
    problem, loss, lam = curved_problem()
    best, start, p, L = optimum(problem), beginning(problem), np.full(loss.n, 1 / loss.n), bounds_of(problem).max()
    paths = []
    for seed in range(40):
        uniforms = np.random.default_rng(seed).random(EPOCHS * loss.n)
        run = dense_saga.one_sample(loss, lam, p, uniforms, L, False, start, factor)
        paths.append([start, *(w for w, *_ in islice(run, loss.n - 1, None, loss.n))])
    assert (mean_square_distances(paths, best) > bound_a(loss, lam, p, L, start, best))[-3:].all()


def bound_b(problem, loss, lam, L, start, best):
    """What part (b) promises after each epoch."""
    n, mean = loss.n, np.mean(L) + lam
    above = (problem.value(start) - problem.value(best)) / n  # in the mean scale of the paper
    rate = 1 - min(1 / (3 * n), lam / (8 * mean))
    return rate ** (n * np.arange(EPOCHS + 1)) * (np.square(start - best).sum() + n / (2 * mean) * above)


def test_the_bound_of_part_b_holds_in_the_mean():
    problem, loss, lam = curved_problem()
    best = optimum(problem)
    bound = bound_b(problem, loss, lam, bounds_of(problem), beginning(problem), best)
    seen = mean_square_distances(paths_of(problem, lambda seed: SAGATwoSamples(step="theory", seed=seed)), best)
    assert (seen <= bound).all()
    assert seen[-1] < 0.2 * seen[0]


@pytest.mark.parametrize("factor", [20, 1 / 12])
def test_the_bound_of_part_b_does_not_hold_for_steps_much_longer_or_shorter(factor):
    problem, loss, lam = curved_problem()
    best, start, L = optimum(problem), beginning(problem), bounds_of(problem)
    paths = []
    for seed in range(40):
        pairs = np.random.default_rng(seed).random((EPOCHS * loss.n, 2))
        run = dense_saga.two_samples(loss, lam, pairs, L, False, start, factor)
        paths.append([start, *(w for w, *_ in islice(run, loss.n - 1, None, loss.n))])
    assert (mean_square_distances(paths, best) > bound_b(problem, loss, lam, L, start, best))[-3:].all()


@pytest.mark.parametrize("solver", [SAGAFixedProbabilities(), SAGATwoSamples()])
def test_it_converges_linearly_to_the_optimum(solver):
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6)
    problem = Problem(corpus, random_features(0), c2=0.5)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    gaps = [problem.certificate(step.weights).relative_gap for step in islice(steps, 101)]
    assert gaps[50] < 1e-4 * gaps[5]
    assert gaps[100] < max(1e-4 * gaps[50], 1.1e-12)  # no gap below the rounding of F is certified
