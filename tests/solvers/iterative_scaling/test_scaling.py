"""GIS, IIS and what accelerates them against twins by enumeration, and against lbfgs."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.iterative_scaling.gis import GIS
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from reference import plain_scaling
from reference.plain_scaling import PlainScaling
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = [3, 1, 4, 2, 3, 2]
FAMILY = [
    "gis",
    "iis",
    "staggered-aitken-gis",
    "aitken-gis",
    "triple-jump",
    "componentwise-triple-jump",
    "anderson-gis",
]


def make(c2=0.5, values=False, weights=False):
    corpus = learnable_corpus(3, lengths=LENGTHS, weights=weights)
    if values:
        corpus = corpus._replace(values=np.random.default_rng(0).uniform(0, 2, len(corpus.attributes)))
    features = random_features(3)
    return Problem(corpus, features, c2=c2), PlainScaling(corpus, features, c2)


def weights_of(problem, solver, n, start=None):
    steps = islice(solver.iterate(problem, np.zeros(problem.n_weights) if start is None else start.copy()), n + 1)
    return [step.weights.copy() for step in steps]


def iterated(mapping, w, n):
    points = [w]
    for _ in range(n):
        points.append(mapping(points[-1]))
    return points


@pytest.mark.parametrize("c2", [0.0, 1e-6, 0.5, 30.0])
@pytest.mark.parametrize("kind", ["plain", "values", "weights"])
@pytest.mark.parametrize("name", ["gis", "iis"])
def test_every_iterate_equals_the_reference(name, kind, c2):
    problem, twin = make(c2, values=kind == "values", weights=kind == "weights")
    plain = iterated(getattr(twin, name), np.zeros(problem.n_weights), 6)
    np.testing.assert_allclose(weights_of(problem, registry.make(name), 6), plain, rtol=1e-9, atol=1e-10)


def test_feature_sums_are_those_of_the_heaviest_labelings():
    for kind in ({}, {"values": True}, {"weights": True}):
        problem, twin = make(**kind)
        np.testing.assert_allclose(problem.feature_sums(), twin.sums, rtol=1e-14)


def test_counts_are_those_of_all_labelings():
    problem, twin = make(weights=True)
    w = np.random.default_rng(1).normal(size=problem.n_weights)
    loss, expected = problem.expected_counts(w)
    np.testing.assert_allclose(expected, sum(twin.expected(i, w) for i in range(twin.n)), rtol=1e-12)
    np.testing.assert_allclose(problem.observed_counts(), twin.observed, rtol=1e-12)
    assert loss + problem.c2 * (w @ w) == pytest.approx(twin.value(w), rel=1e-12)
    grouped_loss, (sums, counts) = problem.expected_counts_by_sum(w, 3)
    assert grouped_loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(counts.sum(axis=0), expected, rtol=1e-12, atol=1e-14)
    assert len(sums) <= 3
    assert sums[-1] == max(twin.sums)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_groups_are_sums_over_sequences_of_no_larger_feature_sum(n_jobs):
    problem, twin = make()
    problem = Problem(problem.corpus, problem.features, c2=0.5, n_jobs=n_jobs)
    w = np.random.default_rng(1).normal(size=problem.n_weights)
    _, (sums, counts) = problem.expected_counts_by_sum(w, 2)
    group = np.searchsorted(sums, twin.sums)
    for g in range(len(sums)):
        members = np.flatnonzero(group == g)
        np.testing.assert_allclose(counts[g], sum(twin.expected(i, w) for i in members), rtol=1e-12, atol=1e-14)


def test_a_negative_value_raises_an_error():
    problem = Problem(random_corpus(0, values=True), random_features(0), c2=1.0)
    for name in FAMILY:
        with pytest.raises(ValueError, match=r"needs attribute values of at least 0, but one is -\d.*use lbfgs\.$"):
            minimize(problem, registry.make(name), stop=[MaxIterations(1)])


def test_the_papers_rule_is_its_formula_where_that_exists_and_the_exact_step_elsewhere():
    problem, twin = make(c2=0.5)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    steps = GIS(rule="paper").iterate(problem, w.copy())
    moved = [next(steps).weights.copy() for _ in range(2)][1]
    formula, exact = twin.paper_step(w), twin.gis(w)
    defined = np.isfinite(formula)
    assert 0 < defined.sum() < len(w)
    np.testing.assert_allclose(moved, np.where(defined, formula, exact), rtol=1e-9)


def test_an_infinite_variance_is_no_penalty():
    """sigma -> infinity, where every feature occurs: without a penalty the others have no optimum."""
    corpus = learnable_corpus(3, lengths=LENGTHS)
    features = build_feature_map(corpus, 6, 3)
    plain, weak = (weights_of(Problem(corpus, features, c2=c2), GIS(), 20) for c2 in (0.0, 1e-14))
    np.testing.assert_allclose(weak, plain, rtol=1e-9, atol=1e-12)


GAMMAS = {
    "gamma 1": ({"gamma": 1}, plain_scaling.gamma_1),
    "gamma 2": ({"gamma": 2}, plain_scaling.gamma_2),
    "gamma 3": ({"gamma": 3}, plain_scaling.gamma_3),
    "component": ({"gamma": 1, "componentwise": True, "limit": 0.9}, plain_scaling.gamma_of_each),
}


@pytest.mark.parametrize("gamma", GAMMAS)
def test_staggered_aitken_equals_the_reference(gamma):
    problem, twin = make()
    options, estimate = GAMMAS[gamma]
    start = np.random.default_rng(0).normal(size=problem.n_weights)  # from 0, some first moves are rounding alone
    plain = list(plain_scaling.staggered_aitken(twin.gis, twin.value, start, 5, estimate))
    ours = weights_of(problem, registry.make("staggered-aitken-gis", **options), 10, start)[1:]
    np.testing.assert_allclose(ours, plain, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_aitken_without_staggering_equals_the_reference(gamma):
    problem, twin = make()
    options, estimate = GAMMAS[gamma]
    start = np.random.default_rng(0).normal(size=problem.n_weights)
    plain = list(plain_scaling.aitken(twin.gis, twin.value, start, 9, estimate))
    ours = weights_of(problem, registry.make("aitken-gis", **options), 9, start)[1:]
    np.testing.assert_allclose(ours, plain, rtol=1e-6, atol=1e-8)


def test_the_length_of_haemmerlin_and_hoffmann_equals_the_reference():
    problem, twin = make()
    start = np.random.default_rng(0).normal(size=problem.n_weights)
    plain = plain_scaling.staggered_aitken(twin.gis, twin.value, start, 5, plain_scaling.haemmerlin_hoffmann)
    ours = weights_of(problem, registry.make("staggered-aitken-gis", length="haemmerlin-hoffmann"), 10, start)[1:]
    np.testing.assert_allclose(ours, list(plain), rtol=1e-6, atol=1e-8)


def test_presets_are_the_methods_of_their_papers():
    problem, _ = make()
    for preset, options in (
        ("triple-jump", GAMMAS["gamma 2"][0]),
        ("componentwise-triple-jump", GAMMAS["component"][0]),
    ):
        same = registry.make("staggered-aitken-gis", **options)
        np.testing.assert_array_equal(weights_of(problem, registry.make(preset), 9), weights_of(problem, same, 9))


def test_the_length_of_haemmerlin_and_hoffmann_lies_between_those_of_the_first_and_third_estimate():
    problem, _ = make()
    solvers = [registry.make("staggered-aitken-gis", gamma=g) for g in (1, 3)]
    solvers.append(registry.make("staggered-aitken-gis", length="haemmerlin-hoffmann"))
    before = weights_of(problem, solvers[0], 1)[1]
    lengths = [np.linalg.norm(weights_of(problem, solver, 2)[2] - before) for solver in solvers]
    assert lengths[0] < lengths[2] < lengths[1]


def test_anderson_equals_the_reference():
    problem, twin = make()
    plain = list(plain_scaling.anderson(twin.gis, twin.value, np.zeros(problem.n_weights), 8, pairs=3))
    ours = weights_of(problem, registry.make("anderson-gis", pairs=3), 8)[1:]
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("c2", [0.0, 0.02, 1.0])
def test_the_objective_never_rises(name, c2):
    problem, _ = make(c2)
    values = [step.objective for step in islice(registry.make(name).iterate(problem, np.zeros(problem.n_weights)), 150)]
    assert all(after <= before + 1e-12 * before for before, after in pairwise(values))


@pytest.mark.parametrize("name", FAMILY)
def test_all_end_where_lbfgs_ends(name):
    problem, _ = make()
    best = minimize(problem, registry.make("lbfgs"), stop=[CertifiedGap(1e-10), MaxIterations(300)]).weights
    ours = minimize(problem, registry.make(name), stop=[CertifiedGap(1e-9), MaxIterations(5000)])
    assert ours.status == "converged"
    np.testing.assert_allclose(ours.weights, best, atol=1e-3)


@pytest.mark.parametrize("name", FAMILY[2:])
def test_acceleration_saves_evaluations(name):
    problem, _ = make()
    goal = minimize(problem, registry.make("lbfgs"), stop=[CertifiedGap(1e-10)]).certificate.objective * (1 + 1e-5)
    assert 2 * evaluations(problem, name, goal) < evaluations(problem, "gis", goal)


def evaluations(problem, name, goal):
    passes = 0
    for step in registry.make(name).iterate(problem, np.zeros(problem.n_weights)):
        passes += step.passes
        if step.objective <= goal:
            return passes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": 4}, "gamma must be 1, 2 or 3; got gamma=4"),
        ({"limit": 1.0}, "limit must be below 1; got limit=1.0"),
        ({"length": "long"}, "length must be one of aitken, haemmerlin-hoffmann"),
        ({"rule": "newton"}, "rule must be one of exact, paper"),
    ],
)
def test_wrong_options_are_sentences(options, sentence):
    with pytest.raises(ValueError, match=f"staggered-aitken-gis: {sentence}"):
        registry.make("staggered-aitken-gis", **options)
