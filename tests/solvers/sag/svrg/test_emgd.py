"""EMGD against a dense twin written from the paper, period by period, and against its theory."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.lipschitz_bounds import lipschitz_bounds
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sag.svrg.emgd import EMGD
from fastcrf.stochastic.sampling import epoch_uniforms
from reference import dense_svrg
from reference.random_corpora import learnable_corpus, random_corpus, random_features


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(("step", "project"), [("search", True), ("search", False), ("theory", True)])
def test_emgd_equals_its_dense_reference_for_the_same_samples(c2, step, project):
    given = step == "theory"
    corpus = random_corpus(3, lengths=(3, 1, 4, 2, 3, 2), values=given, weights=given)
    problem = Problem(corpus, random_features(3), c2=c2)
    n, passes = problem.n_sequences, 0.0
    uniforms = [epoch_uniforms(7, period, 4 * n) for period in range(1, 5)]
    known = lipschitz_bounds(corpus, problem.features).max() if step == "theory" else None
    twin = dense_svrg.emgd(corpus, problem.features, 2 * c2 / n, uniforms, known, project)
    steps = EMGD(step=step, project=project, seed=7, storage="mixed").iterate(problem, np.zeros(problem.n_weights))
    for w, d, evaluations, radius in twin:
        step = next(steps)
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.gradient, d + 2 * c2 * w, rtol=1e-9, atol=1e-11)
        assert step.info["radius"] == pytest.approx(radius)
        assert passes * n == pytest.approx(evaluations)


def iterations(problem, solver):
    return solver.iterate(problem, np.zeros(problem.n_weights))


def weights_by_period(problem, uniforms, lipschitz, **options):
    lam = 2 * problem.c2 / problem.n_sequences
    twin = dense_svrg.emgd(problem.corpus, problem.features, lam, uniforms, lipschitz, **options)
    return np.array([w for w, *_ in twin])


@pytest.mark.parametrize("step", ["search", "theory"])
def test_emgd_equals_its_dense_reference_where_draws_end_on_the_sphere(step):
    problem = Problem(random_corpus(3, lengths=(3, 1, 4, 2, 3, 2)), random_features(3), c2=0.3)
    uniforms = [epoch_uniforms(7, period, 24) for period in range(1, 5)]
    known = lipschitz_bounds(problem.corpus, problem.features).max() if step == "theory" else None
    solver = EMGD(step=step, seed=7)
    state = next(solver.iterate(problem, np.zeros(problem.n_weights))).state
    steps = solver.iterate(problem, np.zeros(problem.n_weights), {**state, "radius": 0.05})
    expected = weights_by_period(problem, uniforms, known, first_radius=0.05)
    free = weights_by_period(problem, uniforms, known, project=False)
    assert np.abs(expected - free)[1:].max(axis=1).min() > 0.01
    np.testing.assert_allclose([next(steps).weights.copy() for _ in expected], expected, rtol=1e-10, atol=1e-12)


def test_the_ball_of_a_searched_step_holds_the_optimum():
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), c2=0.5)
    steps = [(step.weights.copy(), step.info["radius"]) for step in islice(iterations(problem, EMGD()), 60)]
    optimum = steps[-1][0]
    for w, radius in steps[:20]:
        assert np.linalg.norm(w - optimum) <= radius


def test_emgd_converges_linearly_to_the_optimum():
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6), random_features(0), c2=0.5)
    for step in islice(iterations(problem, EMGD()), 60):
        gap = problem.certificate(step.weights, step.objective, step.gradient)
    assert gap.relative_gap < 1e-10


def test_with_the_paper_s_number_of_draws_each_period_halves_the_bound_on_the_gap():
    """Theorem 1: for T of the order of (L / lambda)^2, F(w~_k+1) - F* <= lambda Delta_1^2 / 2^(k+1) after k periods."""
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 2, 2]), random_features(0), c2=20.0)
    ridge, n = 2 * problem.c2, problem.n_sequences
    condition = lipschitz_bounds(problem.corpus, problem.features).max() * n / ridge + 1
    lowest = [step.objective for step in islice(iterations(problem, EMGD()), 60)][-1]
    solver = EMGD(step="theory", inner_passes=1152 * condition**2 / n)
    steps = [(step.objective, step.info["radius"]) for step in islice(iterations(problem, solver), 12)]
    for k, (objective, radius) in enumerate(steps):
        assert radius == pytest.approx(steps[0][1] / 2 ** (k / 2))
        assert objective - lowest <= ridge * steps[0][1] ** 2 / 2 ** (k + 1)


class Impatient(Problem):
    """A problem that works in slices of two sequences and asks to stop after each."""

    slice_size = 2

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.asked_to_stop = lambda: True


@pytest.mark.parametrize("solver", [EMGD(), EMGD(step="theory")])
def test_a_run_that_is_stopped_and_resumed_within_periods_equals_one_that_is_not(solver):
    corpus, features = learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0)
    whole, stopped = Problem(corpus, features, c2=0.5), Impatient(corpus, features, c2=0.5)
    step = next(iterations(stopped, solver))
    for expected in islice(iterations(whole, solver), 4):
        while step.state["epoch"] < expected.state["epoch"]:
            assert step.objective is None or step.state["sampled"] == 0
            step = next(islice(solver.iterate(stopped, np.zeros(whole.n_weights), step.state), 1, None))
        np.testing.assert_allclose(step.weights, expected.weights, rtol=1e-10)
        np.testing.assert_allclose(step.gradient, expected.gradient, rtol=1e-9, atol=1e-12)
        assert step.info["radius"] == pytest.approx(expected.info["radius"])
        assert step.objective == pytest.approx(expected.objective, rel=1e-12)


def test_a_step_within_a_period_is_at_the_mean_so_far():
    problem = Impatient(learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0), c2=0.5)
    steps = iterations(problem, EMGD())
    step = next(step for step in steps if step.state["epoch"] == 1 and step.state["sampled"] == 4)
    periods = [epoch_uniforms(0, 1, 20)[:4], []]
    np.testing.assert_allclose(step.weights, weights_by_period(problem, periods, None)[1], rtol=1e-10, atol=1e-12)
