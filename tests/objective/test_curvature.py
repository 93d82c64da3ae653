"""Products with the Hessian against enumeration of all label sequences, and against differences of gradients."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.objective import curvature
from fastcrf.objective.problem import Problem
from fastcrf.system.memory_budget import TooLarge
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import random_corpus, random_features

SOME = np.array([2, 0, 2])


def case(seed, scale=1.0, plain=False, n_labels=3, n_jobs=1):
    """(problem, point, direction, loss by enumeration); scores 500 times as wide take sequences off the usual road."""
    corpus = random_corpus(seed, n_labels=n_labels, values=not plain, weights=not plain)
    features = random_features(seed, n_labels=n_labels)
    rng = np.random.default_rng(seed)
    w, v = scale * rng.normal(size=features.n_weights), rng.normal(size=features.n_weights)
    return Problem(corpus, features, c2=0.5, n_jobs=n_jobs), w, v, EnumeratedLoss(corpus, features)


CASES = [(0, 1.0, True), (1, 1.0, False), (2, 500.0, False), (3, 200.0, True), (4, 1e4, True), (5, 0.0, False)]


@pytest.mark.parametrize(("seed", "scale", "plain"), CASES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_equal_enumeration(seed, scale, plain, n_jobs):
    problem, w, v, loss = case(seed, scale, plain, n_jobs=n_jobs)
    expected = sum(loss.hessian(i, w) for i in range(loss.n)) @ v
    np.testing.assert_allclose(problem.hessian_product(w, v), expected + v, rtol=1e-10, atol=1e-12)
    of_some = sum(loss.hessian(i, w) for i in SOME) @ v
    np.testing.assert_allclose(problem.sequence_hessian_product(w, v, SOME), of_some, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("seed", "scale", "plain"), CASES)
@pytest.mark.parametrize("kept", [None, 0, 2])
def test_what_a_gradient_leaves_behind_gives_the_same_products(seed, scale, plain, kept):
    problem, w, v, _ = case(seed, scale, plain, n_jobs=2)
    point = problem.curvature(kept)
    assert point.n_kept == {None: 4, 0: 0, 2: 2}[kept]
    value, gradient = point.gradient(w)
    assert value == pytest.approx(problem.gradient(w)[0], rel=1e-12)
    np.testing.assert_allclose(gradient, problem.gradient(w)[1], rtol=1e-10, atol=1e-12)
    for direction in (v, w, v):
        np.testing.assert_allclose(
            point.product(direction), problem.hessian_product(w, direction), rtol=1e-10, atol=1e-11
        )
        problem.gradient(v)  # elsewhere: it must not matter


@pytest.mark.parametrize(("seed", "scale", "plain"), CASES)
def test_algorithmic_differentiation_gives_the_same_products(seed, scale, plain):
    problem, w, v, _ = case(seed, scale, plain, n_jobs=2)
    point = problem.differentiated_curvature()
    point.gradient(w)
    np.testing.assert_allclose(point.product(v), problem.hessian_product(w, v), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_labels", [2, 9, 60])
def test_a_product_is_the_slope_of_the_gradient(n_labels):
    """K = 9 pads one panel, K = 60 takes two."""
    problem, w, v, _ = case(6, 1.0, n_labels=n_labels) if n_labels < 9 else case_without_enumeration(n_labels)
    step = 1e-5
    slope = (problem.gradient(w + step * v)[1] - problem.gradient(w - step * v)[1]) / (2.0 * step)
    np.testing.assert_allclose(problem.hessian_product(w, v), slope, rtol=1e-6, atol=1e-7)


def case_without_enumeration(n_labels):
    corpus = random_corpus(6, lengths=(2, 3, 1), n_labels=n_labels)
    features = random_features(6, n_labels=n_labels)
    rng = np.random.default_rng(6)
    return Problem(corpus, features, c2=0.5), *rng.normal(size=(2, features.n_weights)), None


def test_blocks_of_sequences_are_added_up():
    """500 sequences are several blocks, each of which begins at a row of its own."""
    corpus, features = random_corpus(7, lengths=[3, 1, 4] * 170), random_features(7)
    rng = np.random.default_rng(7)
    w, v = rng.normal(size=(2, features.n_weights))
    problem = Problem(corpus, features)
    singly = sum(problem.sequence_hessian_product(w, v, np.array([i])) for i in range(corpus.n_sequences))
    point = problem.curvature(300)
    point.gradient(w)
    np.testing.assert_allclose(point.product(v), singly, rtol=1e-9)
    differentiated = problem.differentiated_curvature()
    differentiated.gradient(w)
    np.testing.assert_allclose(differentiated.product(v), singly, rtol=1e-9)
    np.testing.assert_allclose(problem.hessian_product(w, v), singly, rtol=1e-9)


def test_the_gradient_of_some_sequences_equals_enumeration():
    problem, w, _, loss = case(1, n_jobs=2)
    value, gradient = problem.subset_gradient(w, SOME)
    assert value == pytest.approx(sum(loss.value(i, w) for i in SOME), rel=1e-12)
    np.testing.assert_allclose(gradient, sum(loss.gradient(i, w) for i in SOME), atol=1e-12)


def test_a_product_before_any_gradient_raises_an_error():
    problem, _, v, _ = case(0)
    for point in (problem.curvature(), problem.differentiated_curvature()):
        with pytest.raises(ValueError, match="requires a gradient at the same point"):
            point.product(v)


def test_as_much_is_kept_as_there_is_space_for(monkeypatch):
    problem, w, v, _ = case(0)
    monkeypatch.setattr(curvature, "SMALL", 0)
    monkeypatch.setattr(curvature, "free_memory", lambda: 1000)
    point = problem.curvature()
    assert 0 < point.n_kept < problem.n_sequences
    point.gradient(w)
    np.testing.assert_allclose(point.product(v), problem.hessian_product(w, v), rtol=1e-10)
    monkeypatch.setattr("fastcrf.system.memory_budget.SMALL", 0)
    monkeypatch.setattr("fastcrf.system.memory_budget.free_memory", lambda: 1000)
    with pytest.raises(TooLarge, match="Caching the inference of 4 sequences would take"):
        problem.curvature(4)


def test_bounds_of_variances_know_the_penalty():
    with_penalty, w, _, _ = case(1)
    without = Problem(with_penalty.corpus, with_penalty.features)
    found, plain = (problem.variance_bounds(w, problem.gradient(w)[1]) for problem in (with_penalty, without))
    np.testing.assert_allclose(found, plain + 2.0 * 0.5, rtol=1e-10)
