"""Bounds from bundles of planes: never above the optimum, whatever is in them, and tight where they can be."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.certificates.bundle import Bundle
from fastcrf.certificates.planes import Allowed, best_shares, curvature
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from reference.cases import for_each
from reference.random_corpora import learnable_corpus, random_features

ROUNDING = 1e-10  # what a bound may be above the optimum, relative to it: values of F are no better
STRENGTHS = [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1.0, 0.03), (0.03, 1.0)]  # of L1 and L2, relative to each other


def random_problem(seed):
    """One of all kinds: a few short sequences, with and without weights and values, strong and weak penalties."""
    rng = np.random.default_rng(seed)
    lengths = tuple(rng.integers(1, 5, rng.integers(1, 5)))
    corpus = learnable_corpus(seed, lengths=lengths, values=bool(rng.integers(2)), weights=bool(rng.integers(2)))
    strength = 10.0 ** rng.uniform(-3, 1)
    c1, c2 = (strength * share for share in STRENGTHS[rng.integers(len(STRENGTHS))])
    return Problem(corpus, random_features(seed), c1, c2)


def evaluate(problem, weights):
    smooth, gradient = problem.gradient(weights)
    return smooth + problem.c1 * np.abs(weights).sum(), gradient


def way_to_optimum(problem, steps=50):
    """The points of a quasi-Newton run; where the last one is not quite at the optimum, F is a little above F*."""
    solver = make("owlqn" if problem.c1 > 0.0 else "lbfgs")
    return [step.weights.copy() for step in islice(solver.iterate(problem, np.zeros(problem.n_weights)), steps)]


def bounds_of(problem, points, rng):
    """All bounds that a bundle gives along the points, which is mixed when it is full and now and then besides."""
    bundle = Bundle(problem.n_weights, problem.c1, problem.c2, capacity=int(rng.integers(4, 9)))
    for weights in points:
        objective, gradient = evaluate(problem, weights)
        yield bundle.add(weights, objective, gradient)
        if bundle.planes and (bundle.is_full or rng.random() < 0.2):
            yield bundle.mix(weights, objective)
        if bundle.is_full:
            bundle.thin()


@pytest.mark.parametrize("hundred", range(20))
def test_no_bound_is_above_the_optimum_in_thousands_of_problems(hundred):
    closed = 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem, rng = random_problem(seed), np.random.default_rng([seed, 3])
        way = way_to_optimum(problem)
        strays = [way[-1] + 10.0 ** rng.uniform(-6, 4) * rng.normal(size=problem.n_weights) for _ in range(8)]
        points = [*way[::2], *strays, way[-1]]
        rng.shuffle(points[: rng.integers(len(points))])
        least = problem.value(way[-1])
        best = max(bounds_of(problem, points, rng))
        assert best <= least * (1.0 + ROUNDING) + ROUNDING, (seed, problem.c1, problem.c2, best - least)
        closed += best >= least * (1.0 - 1e-4)
    assert closed >= 75  # bounds that prove nothing would pass, too


@for_each("seed", range(200))
def test_rounding_to_single_precision_lifts_no_bound_even_where_the_loss_is_a_plane(seed):
    """There a plane from afar is exact at the optimum, and its bound is F* itself but for the rounding."""
    rng = np.random.default_rng(seed)
    n, far, c2 = 50, 10.0 ** rng.uniform(-2, 4), 10.0 ** rng.uniform(-2, 1)
    slopes = rng.normal(size=n)
    level = (slopes @ slopes) / (2.0 * c2)
    optimum, bundle = level - (slopes @ slopes) / (4.0 * c2), Bundle(n, 0.0, c2)
    for _ in range(4):
        w = far * rng.normal(size=n)
        objective = level + slopes @ w + c2 * (w @ w)
        alone = bundle.add(w, objective, slopes + 2.0 * c2 * w)
        mixed = bundle.mix(w, objective)
        for bound in (alone, mixed):
            assert bound <= optimum + 1e-13 * objective
            assert bound >= optimum - 1e-6 * (objective + optimum)


@for_each("seed", range(50))
def test_rounding_lifts_no_bound_without_an_l2_penalty_either(seed):
    rng = np.random.default_rng(seed)
    n, c1, level = 50, 2.0, 1000.0
    slopes, bundle = np.clip(rng.normal(size=n), -1.9, 1.9), Bundle(n, c1, 0.0)  # so w* = 0, and F* = level
    for _ in range(4):
        w = rng.normal(size=n)
        objective = level + slopes @ w + c1 * np.abs(w).sum()
        for bound in (bundle.add(w, objective, slopes.copy()), bundle.mix(w, objective)):
            assert level * (1.0 - 1e-5) <= bound <= level


def test_slopes_that_overshoot_cancel_in_the_mixture():
    """A stiff parabola, seen from both sides: each plane alone proves nothing, both together nearly everything."""
    stiffness, c2 = np.array([1e4, 1.0]), 0.1
    bundle = Bundle(2, 0.0, c2)
    for w in (np.array([0.01, 0.0]), np.array([-0.01, 0.0])):
        loss = 10.0 + 0.5 * (stiffness * w) @ w
        alone = bundle.add(w, loss + c2 * (w @ w), stiffness * w + 2.0 * c2 * w)
        assert alone < -1e4
    assert 9.4 < bundle.mix(w, loss + c2 * (w @ w)) <= 10.0


@pytest.mark.parametrize(("c1", "with_factors"), [(0.0, False), (0.7, False), (0.0, True), (0.7, True)])
def test_the_curvature_is_that_of_the_excess(c1, with_factors):
    rng = np.random.default_rng(1)
    rows, order = rng.normal(size=(6, 1300)).astype(np.float32), np.array([4, 0, 2])
    factors = rng.uniform(1.0, 2.0, 1300) if with_factors else np.empty(0)
    gram, offset = curvature(rows, order, Allowed(c1, factors))
    free = c1 * factors if with_factors else c1
    first, planes = rows[4].astype(float), rows[order].astype(float)
    signs = np.where(np.abs(first) >= free, np.where(first >= 0.0, 1.0, -1.0), 0.0)
    assert gram == pytest.approx((planes * np.abs(signs)) @ planes.T, rel=1e-12, abs=1e-9)
    assert offset == pytest.approx(planes @ (free * signs), rel=1e-12, abs=1e-9)


@for_each("seed", range(20))
def test_no_move_of_shares_is_better_than_the_best_ones(seed):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(7, 4 + seed % 8)) * 10.0 ** rng.uniform(-2, 2, (7, 1))
    heights, gram, shares = rng.normal(size=7), slopes @ slopes.T, np.full(7, 1.0 / 7.0)
    best_shares(heights, gram, shares, 1e-9, 100_000)
    gains = heights - 2.0 * gram @ shares
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert gains.max() - gains @ shares <= 1e-5


def test_a_bundle_goes_on_from_its_state_bit_for_bit():
    problem = random_problem(7)
    points = way_to_optimum(problem)
    whole, halves = (Bundle(problem.n_weights, problem.c1, problem.c2, capacity=4) for _ in range(2))
    seen = {whole: [], halves: []}
    for k, weights in enumerate(points):
        if k == len(points) // 2:
            saved = {name: array.copy() for name, array in halves.state().items()}
            halves = Bundle(problem.n_weights, problem.c1, problem.c2, capacity=4)
            halves.restore(saved)
            seen[halves] = []
        for bundle in (whole, halves):
            objective, gradient = evaluate(problem, weights)
            seen[bundle] += [bundle.add(weights, objective, gradient), bundle.mix(weights, objective)]
            if bundle.is_full:
                bundle.thin()
    assert len(points) > 10
    assert seen[whole][-len(seen[halves]) :] == seen[halves]


def test_slopes_beyond_single_precision_are_left_out():
    bundle = Bundle(3, 0.0, 1.0)
    assert bundle.add(np.zeros(3), 1.0, np.array([1e300, 0.0, 0.0])) == -np.inf
    assert not bundle.planes
