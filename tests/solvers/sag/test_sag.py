"""The solvers of the SAG family against dense twins written from the papers, draw by draw."""

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sag.sag import SAG
from fastcrf.solvers.sag.sag_nus import SAGNUS
from fastcrf.solvers.sag.sag_nus_star import SAGNUSStar
from fastcrf.solvers.sag.saga import SAGA
from fastcrf.solvers.sag.saga_nus import SAGANUS
from fastcrf.solvers.sag.saga_nus_star import SAGANUSStar
from fastcrf.solvers.sag.sg_nus import SGNUS
from fastcrf.stochastic.sampling import epoch_uniforms, first_order
from reference import dense_sag, schmidt2015
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2)


def small_problem(c2, values=False, weights=False):
    corpus = random_corpus(3, lengths=LENGTHS, values=values, weights=weights)
    return Problem(corpus, random_features(3), c2=c2)


def draws(seed, epochs):
    return np.concatenate([epoch_uniforms(seed, epoch, len(LENGTHS)) for epoch in range(epochs)])


def assert_epochs_agree(problem, solver, twin, epochs):
    """Weights, drift and passes agree after every epoch."""
    n = problem.n_sequences
    states = [(w.copy(), d.copy(), evaluations) for w, d, _, evaluations in twin]
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    assert next(steps).passes == 0
    passes = 0.0
    for epoch in range(epochs):
        step = next(steps)
        w, d, evaluations = states[(epoch + 1) * n - 1]
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.state["drift"], d, rtol=1e-9, atol=1e-11)
        assert passes * n == pytest.approx(evaluations)


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(("values", "weights"), [(False, False), (True, True)])
def test_sag_equals_its_dense_reference_for_the_same_samples(c2, values, weights):
    problem = small_problem(c2, values, weights)
    lam = 2 * c2 / problem.n_sequences
    twin = dense_sag.sag(problem.corpus, problem.features, lam, draws(7, 6))
    assert_epochs_agree(problem, SAG(seed=7), twin, 6)


@pytest.mark.parametrize("c2", [0.0, 0.3])
def test_sag_is_the_papers_algorithm_to_the_letter_where_no_deviation_acts(c2):
    """The first L is too small, so that the first search goes up alone, and no gradient is too small to search with."""
    n, features = len(LENGTHS), random_features(3, density=1.0)
    problem = Problem(learnable_corpus(3, lengths=(3, 2, 4, 2, 3, 2)), features, c2=c2)
    loss = dense_sag.SequenceLoss(problem.corpus, problem.features)
    order = (draws(7, 5) * n).astype(int)
    paper = list(schmidt2015.algorithm_1(loss, 2 * c2 / n, order, L=0.1))
    assert all(np.sum(loss.gradient(i, w) ** 2) > 1e-8 for i, w in zip(order[1:], paper, strict=False))
    steps = SAG(seed=7, first_lipschitz=0.1).iterate(problem, np.zeros(problem.n_weights))
    next(steps)
    for epoch in range(5):
        np.testing.assert_allclose(next(steps).weights, paper[(epoch + 1) * n - 1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("skipping", [True, False])
def test_sag_nus_star_equals_its_dense_reference_for_the_same_samples(c2, skipping):
    problem = small_problem(c2)
    lam = 2 * c2 / problem.n_sequences
    twin = dense_sag.sag_nus_star(problem.corpus, problem.features, lam, draws(7, 8), skipping)
    assert_epochs_agree(problem, SAGNUSStar(seed=7, skipping=skipping), twin, 8)


@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(("values", "weights"), [(False, False), (True, True)])
def test_sag_nus_equals_its_dense_reference_for_the_same_samples(c2, values, weights):
    problem = small_problem(c2, values, weights)
    n = problem.n_sequences
    twin = dense_sag.sag_nus(problem.corpus, problem.features, 2 * c2 / n, draws(7, 8), first_order(7, n))
    assert_epochs_agree(problem, SAGNUS(seed=7), twin, 8)


def test_sag_nus_star_with_values_and_sequence_weights_equals_its_dense_reference():
    problem = small_problem(0.5, values=True, weights=True)
    twin = dense_sag.sag_nus_star(problem.corpus, problem.features, 1 / problem.n_sequences, draws(2, 8))
    assert_epochs_agree(problem, SAGNUSStar(seed=2), twin, 8)


@pytest.mark.parametrize("c2", [0.0, 0.3])
def test_saga_equals_its_dense_reference_for_the_same_samples(c2):
    problem = small_problem(c2, values=True, weights=True)
    lam = 2 * c2 / problem.n_sequences
    twin = dense_sag.sag(problem.corpus, problem.features, lam, draws(5, 6), saga=True)
    assert_epochs_agree(problem, SAGA(seed=5), twin, 6)


@pytest.mark.parametrize("skipping", [True, False])
def test_saga_nus_star_equals_its_dense_reference_for_the_same_samples(skipping):
    problem = small_problem(0.3)
    twin = dense_sag.sag_nus_star(
        problem.corpus, problem.features, 0.6 / problem.n_sequences, draws(7, 8), skipping, saga=True
    )
    assert_epochs_agree(problem, SAGANUSStar(seed=7, skipping=skipping), twin, 8)


@pytest.mark.parametrize("c2", [0.0, 0.3])
def test_saga_nus_equals_its_dense_reference_for_the_same_samples(c2):
    problem = small_problem(c2, values=True, weights=True)
    n = problem.n_sequences
    twin = dense_sag.sag_nus(problem.corpus, problem.features, 2 * c2 / n, draws(7, 8), first_order(7, n), saga=True)
    assert_epochs_agree(problem, SAGANUS(seed=7), twin, 8)


@pytest.mark.parametrize("c2", [0.0, 0.3])
@pytest.mark.parametrize("skipping", [True, False])
def test_sg_nus_equals_its_dense_twin_and_stores_no_gradient(c2, skipping):
    problem, n = small_problem(c2, values=True, weights=True), len(LENGTHS)
    twin = list(dense_sag.sg_nus(problem.corpus, problem.features, 2 * c2 / n, draws(7, 8), 0.2, skipping))
    steps = SGNUS(eta=0.2, seed=7, skipping=skipping).iterate(problem, np.zeros(problem.n_weights))
    passes = next(steps).passes
    for epoch in range(8):
        step = next(steps)
        w, constants, evaluations = twin[(epoch + 1) * n - 1]
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        assert passes * n == pytest.approx(evaluations)
    np.testing.assert_allclose(step.state["estimates"], constants, rtol=1e-10)
    assert not step.state.keys() & {"nodes", "edges", "rows", "cells", "snapshot"}


@pytest.mark.parametrize("solver", [SAG(), SAGNUS(), SAGNUSStar(), SAGA(), SAGANUS(), SAGANUSStar()])
def test_the_gradient_estimate_is_the_gradient_in_the_limit(solver):
    problem = small_problem(0.5)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    for _ in range(120):
        step = next(steps)
    _, gradient = problem.gradient(step.weights)
    estimate = step.state["drift"] + 2 * problem.c2 * step.weights
    np.testing.assert_allclose(estimate, gradient, atol=1e-6)
    assert step.info["gradient_norm_estimate"] == pytest.approx(np.linalg.norm(estimate))
    assert problem.certificate(step.weights).relative_gap < 1e-9


def passes_to_the_optimum(problem, solver, relative=1e-6):
    passes = 0.0
    for step in solver.iterate(problem, np.zeros(problem.n_weights)):
        passes += step.passes
        if problem.certificate(step.weights).relative_gap < relative:
            return passes


@pytest.mark.parametrize("kind", [SAG, SAGNUS, SAGNUSStar])
def test_a_first_lipschitz_constant_of_any_order_of_magnitude_does_no_harm(kind):
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 12), random_features(0), c2=0.5)
    usual = passes_to_the_optimum(problem, kind())
    for start in (1e-3, 1e-1, 1e1, 1e3):
        assert passes_to_the_optimum(problem, kind(first_lipschitz=start)) < 1.3 * usual, start


@pytest.mark.parametrize("start", [1e-3, 1e3])
def test_from_a_bad_first_constant_the_dense_references_are_followed_as_well(start):
    problem = small_problem(0.3)
    n, lam = problem.n_sequences, 0.6 / problem.n_sequences
    known = problem.corpus, problem.features, lam, draws(7, 4)
    assert_epochs_agree(problem, SAG(first_lipschitz=start, seed=7), dense_sag.sag(*known, first_lipschitz=start), 4)
    nus = dense_sag.sag_nus(*known, first_order(7, n), start)
    assert_epochs_agree(problem, SAGNUS(first_lipschitz=start, seed=7), nus, 4)
    star = dense_sag.sag_nus_star(*known, first_lipschitz=start)
    assert_epochs_agree(problem, SAGNUSStar(first_lipschitz=start, seed=7), star, 4)
