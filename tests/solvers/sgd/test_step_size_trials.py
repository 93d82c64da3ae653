"""Recipes for the first step size against plain twins on a small corpus."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.calibration import POWERS_OF_TEN, RECIPES, TSUBOI, calibrate
from fastcrf.solvers.sgd.run import Run
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.solvers.sgd.schedules import Bottou
from fastcrf.stochastic.sampling import epoch_permutation, epoch_uniforms
from reference import dense_sgd
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 4, 3)
N, LAMBDA, SEED = len(LENGTHS), 0.1, 4


@pytest.fixture(params=[0, 1, 2])
def problem(request):
    corpus = learnable_corpus(request.param, lengths=LENGTHS, weights=True)
    return Problem(corpus, random_features(request.param), c2=LAMBDA * N / 2)


def chosen(problem, recipe, samples=1000, batch_size=1, start=None, **search):
    """(the step size, effective evaluations)"""
    start = np.zeros(problem.n_weights) if start is None else start
    descent = ScaledDescent(problem, start.copy(), batch_size, shrink_first=recipe == "crfsuite")
    run = Run("sgd", problem, None, descent, seed=SEED)
    eta = calibrate(run, recipe, lambda eta: Bottou(eta, descent.lam), samples, **search)
    np.testing.assert_array_equal(run.step().weights, start)
    return eta


@pytest.mark.parametrize("samples", [5, 1000])
@pytest.mark.parametrize("batch", [1, 3])
def test_bottous_recipe(problem, samples, batch):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    drawn = [int(u * N) for u in epoch_uniforms(SEED, 0, samples)] if samples < N else range(N)
    expected = dense_sgd.bottou_eta(loss, w, list(drawn), LAMBDA, batch)
    assert chosen(problem, "bottou", samples, batch) == pytest.approx(expected)


@pytest.mark.parametrize("samples", [5, 1000])
@pytest.mark.parametrize("search", [{}, {"first": 0.7, "rate": 1.5, "candidates": 3, "max_trials": 6}])
def test_crfsuites_recipe(problem, samples, search):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    expected = dense_sgd.crfsuite_eta(loss, w, epoch_permutation(SEED, 0, N)[:samples], LAMBDA, **search)
    assert chosen(problem, "crfsuite", samples, **search) == pytest.approx(expected)


def test_powers_of_ten_by_the_objective_after_a_pass(problem):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    sample, scores = epoch_permutation(SEED, 0, N)[:6], {}
    for eta in POWERS_OF_TEN:
        there, _ = dense_sgd.one_pass(loss, w, sample, dense_sgd.bottou_rates(eta, LAMBDA, 6), LAMBDA)
        scores[eta] = dense_sgd.mean_objective(loss, there, sample, LAMBDA)
    assert chosen(problem, "powers", 6) == min(scores, key=scores.get)


def test_tsubois_recipe_trains_on_one_half_and_scores_the_other(problem):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    scores = {}
    for eta in TSUBOI:
        there, _ = dense_sgd.one_pass(loss, w, [0, 1, 2], dense_sgd.bottou_rates(eta, LAMBDA, 3), LAMBDA)
        scores[eta] = sum(loss.value(i, there) for i in (3, 4, 5))
    assert chosen(problem, "tsuboi", 6) == min(scores, key=scores.get)


@pytest.mark.parametrize("recipe", RECIPES)
def test_trials_begin_at_the_start_and_leave_the_run_there(problem, recipe):
    start = np.random.default_rng(0).normal(size=problem.n_weights)
    assert chosen(problem, recipe, start=start) > 0.0


@pytest.mark.parametrize("recipe", RECIPES)
def test_one_sequence_is_enough(recipe):
    problem = Problem(learnable_corpus(0, lengths=(3,)), random_features(0), c2=1.0)
    assert chosen(problem, recipe) > 0.0


def test_every_evaluation_counts(problem):
    run = Run("sgd", problem, None, ScaledDescent(problem, np.zeros(problem.n_weights), 1, shrink_first=False))
    calibrate(run, "tsuboi", lambda eta: Bottou(eta, LAMBDA), 6)
    assert run.step().passes == pytest.approx(4 * 6 / N)
