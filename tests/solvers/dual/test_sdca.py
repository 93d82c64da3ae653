"""SDCA against a twin with explicit marginals, draw by draw."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.dual.sdca import SDCA
from fastcrf.stochastic.sampling import epoch_uniforms
from reference import dense_dual
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2)
N = len(LENGTHS)


@pytest.mark.parametrize("c2", [0.02, 0.5, 5.0])
@pytest.mark.parametrize(("sampling", "share"), [("uniform", 1.0), ("gap", 0.2)])
@pytest.mark.parametrize(("line_search", "given"), [("exact", False), ("exact", True), ("secant", True)])
def test_it_equals_its_reference_sample_by_sample(c2, sampling, share, line_search, given):
    corpus = random_corpus(3, lengths=LENGTHS, values=given, weights=given)
    problem = Problem(corpus, random_features(3), c2=c2)
    solver = SDCA(sampling=sampling, line_search=line_search, precision=1e-14, seed=7, steps_per_epoch=N)
    uniforms = np.concatenate([epoch_uniforms(7, epoch, N) for epoch in range(4)])
    twin = dense_dual.sdca(corpus, problem.features, c2, uniforms, line_search=line_search, share=share)
    for (w, dual, gaps), step in zip(twin, solver.iterate(problem, np.zeros(problem.n_weights)), strict=False):
        np.testing.assert_allclose(step.weights, w, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(step.state["gaps"], gaps, rtol=1e-7, atol=1e-8)
        assert step.info["dual"] == pytest.approx(dual, rel=1e-8, abs=1e-8)
        assert step.lower_bound <= step.info["dual"]


@pytest.mark.parametrize(("order", "c2"), [(2, 0.05), (3, 0.5)])
def test_in_a_chain_of_higher_order_it_equals_its_reference_as_well(order, c2):
    corpus = random_corpus(3, lengths=LENGTHS, n_labels=2, values=True, weights=True)
    problem = Problem(corpus, random_features(3, n_labels=2, density=1.0, order=order), c2=c2)
    solver = SDCA(sampling="uniform", precision=1e-14, seed=7, steps_per_epoch=N)
    uniforms = np.concatenate([epoch_uniforms(7, epoch, N) for epoch in range(3)])
    twin = dense_dual.sdca(corpus, problem.features, c2, uniforms, share=1.0)
    for (w, dual, gaps), step in zip(twin, solver.iterate(problem, np.zeros(problem.n_weights)), strict=False):
        np.testing.assert_allclose(step.weights, w, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(step.state["gaps"], gaps, rtol=1e-6, atol=1e-7)
        assert step.info["dual"] == pytest.approx(dual, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_scores_that_are_too_wide_for_probabilities_give_the_same_marginals(order):
    """A penalty that hardly is one makes the first weights enormous: their sequences go through the log domain."""
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4])
    problem = Problem(corpus, random_features(0, order=order, density=0.6 if order == 1 else 1.0), c2=1e-6)
    twin = dense_dual.sdca(corpus, problem.features, 1e-6, epoch_uniforms(0, 0, 5), share=1.0)
    steps = SDCA(sampling="uniform", precision=1e-14, steps_per_epoch=5).iterate(problem, np.zeros(problem.n_weights))
    assert np.abs(next(steps).weights).max() > 300.0
    next(twin)
    for w, _, _ in twin:
        np.testing.assert_allclose(next(steps).weights, w, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("solver", [SDCA(), SDCA(sampling="uniform", line_search="secant")])
def test_the_dual_rises_and_the_gaps_close(solver):
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0), c2=0.05)
    steps = [(step.info["dual"], step.info["gap_estimate"]) for step in islice(solver.iterate(
        problem, np.zeros(problem.n_weights)), 60)]  # fmt: skip
    duals, gaps = np.array(steps).T
    assert np.diff(duals).min() >= -1e-12
    assert gaps[-1] < 1e-5 * duals[-1]
