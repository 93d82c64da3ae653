"""Attributes that always go together as one: the same objective, the same optimum, fewer weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import CRF
from fastcrf.core.types import Corpus
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.evaluation import evaluate
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.merging import equal_attributes, merge_equal
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap
from fastcrf.training.driver import minimize
from reference.random_corpora import random_corpus

COPIES = (1, 3, 1, 2, 4)  # how many attributes each of five becomes


def with_copies(seed, values=False, n_labels=3):
    """A random corpus in which attribute a is there COPIES[a] times, and its features."""
    corpus = random_corpus(seed, n_attributes=len(COPIES), values=values, n_labels=n_labels)
    first = np.concatenate(([0], np.cumsum(COPIES)))
    times = np.array(COPIES)[corpus.attributes]
    copies = np.concatenate([np.arange(first[a], first[a + 1]) for a in corpus.attributes])
    grown = corpus._replace(
        offsets=np.concatenate(([0], np.cumsum(times)))[corpus.offsets],
        attributes=copies.astype(np.int32),
        values=np.repeat(corpus.values, times) if len(corpus.values) else corpus.values,
    )
    return grown, build_feature_map(grown, int(first[-1]), n_labels)


def both(seed, values=False, c1=0.0, c2=0.3, n_labels=3):
    corpus, features = with_copies(seed, values, n_labels)
    merged = choose_problem(make("auto"), corpus, features, c1, c2)
    assert isinstance(merged, MergedProblem)
    return merged, Problem(corpus, features, c1, c2)


class InPieces(Corpus):
    """A corpus that is worked on one sequence at a time."""

    def slices(self, occurrences=1):
        return super().slices(1)


def occurrences_of(corpus, n_attributes):
    """Where each attribute occurs, with which values."""
    found = [[] for _ in range(n_attributes)]
    for p in range(corpus.n_positions):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            found[corpus.attributes[o]].append((p, corpus.values[o] if len(corpus.values) else 1.0))
    return [tuple(each) for each in found]


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_groups_are_those_of_equal_occurrences(seed, values, piecewise):
    corpus, _ = with_copies(seed, values)
    if piecewise:
        corpus = InPieces(*corpus)
    groups, first = equal_attributes(corpus, sum(COPIES))
    met = {}
    for a, where in enumerate(occurrences_of(corpus, sum(COPIES))):
        assert groups[a] == met.setdefault(where, len(met))
    assert [groups[a] for a in first] == list(range(len(met)))


def test_attributes_that_differ_in_one_value_stay_apart():
    corpus, _ = with_copies(3, values=True)
    twin = corpus.values.copy()
    twin[np.flatnonzero(corpus.attributes == 1)[0]] *= 1.0 + 1e-12
    groups, _ = equal_attributes(corpus._replace(values=twin), sum(COPIES))
    assert groups[1] != groups[2] == groups[3]


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("c1", [0.0, 0.2])
def test_the_objective_is_that_of_the_weights_it_stands_for(values, c1):
    merged, plain = both(5, values, c1)
    v = np.random.default_rng(0).normal(size=merged.n_weights)
    w = merged.model_weights(v)
    assert len(w) == plain.n_weights > merged.n_weights
    value, gradient = merged.gradient(v)
    expected, whole = plain.gradient(w)
    assert value == pytest.approx(expected, rel=1e-13)
    assert merged.value(v) == pytest.approx(plain.value(w), rel=1e-13)
    assert evaluate(merged, v)[0] == pytest.approx(plain.value(w), rel=1e-13)
    assert v @ v == pytest.approx(w @ w, rel=1e-13)
    assert np.linalg.norm(gradient) == pytest.approx(np.linalg.norm(whole), rel=1e-12)
    np.testing.assert_allclose(merged.merging.join(whole), gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(merged.solver_weights(w), v, rtol=1e-13)


def test_weights_that_differ_within_a_group_are_joined_by_their_sum():
    merged, plain = both(6)
    w = np.random.default_rng(1).normal(size=plain.n_weights)
    evened = merged.model_weights(merged.solver_weights(w))
    assert plain.likelihood.value(evened) == pytest.approx(plain.likelihood.value(w), rel=1e-13)
    assert evened @ evened < w @ w


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("n_labels", [3, 24])  # with 24, attributes of few labels are cells of the table
def test_stochastic_solvers_see_the_same_problem(values, n_labels):
    merged, _ = both(7, values, n_labels=n_labels)
    drawn = Problem(merged.corpus, merged.features, c2=0.3)
    v = np.random.default_rng(2).normal(size=merged.n_weights)
    (value, gradient), (expected, slopes) = merged.gradient(v), drawn.gradient(v)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)
    seen, expected = merged.part(v).blocks.local, drawn.part(v).blocks.local
    assert (len(seen.cell_values) > 0) == (n_labels == 24)
    np.testing.assert_allclose(seen.row_values, expected.row_values, rtol=1e-15)
    np.testing.assert_allclose(seen.cell_values, expected.cell_values, rtol=1e-15)


@pytest.mark.parametrize("when", ["always", "never"])
@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_auto_comes_to_the_optimum_of_the_whole(when, c1):
    merged, plain = both(8, c1=c1)
    solver = make("auto", adaptive_pass=when)
    ends = [minimize(problem, solver, stop=[CertifiedGap(1e-9)]) for problem in (merged, plain)]
    assert all(end.status == "converged" for end in ends)
    assert ends[0].trace[-1]["objective"] == pytest.approx(ends[1].trace[-1]["objective"], rel=2e-9)
    weights = merged.model_weights(ends[0].weights)
    np.testing.assert_allclose(weights, ends[1].weights, atol=1e-4)
    assert plain.certificate(weights).relative_gap <= 1e-6  # by the whole problem's own rules


@pytest.mark.parametrize("seed", range(40))
def test_no_bound_is_above_the_optimum_of_the_whole(seed):
    rng = np.random.default_rng(seed)
    c1, c2 = 10.0 ** rng.uniform(-3, 0, 2)
    merged, plain = both(seed, values=bool(seed % 2), c1=c1, c2=c2)
    least = plain.value(minimize(plain, make("auto"), stop=[CertifiedGap(1e-10)]).weights)
    run = minimize(merged, make("auto"), stop=[CertifiedGap(1e-7)])
    for row in run.trace:
        assert row["objective"] - row["gap"] <= least * (1.0 + 1e-9)
        assert row["objective"] >= least * (1.0 - 1e-9)
    stray = 10.0 ** rng.uniform(-3, 3) * rng.normal(size=merged.n_weights)
    assert merged.certificate(stray).lower_bound <= least * (1.0 + 1e-9)
    assert run.status == "converged"


def test_zeros_of_the_whole_are_zeros():
    merged, plain = both(11, c1=1.0, c2=0.1)
    ends = [minimize(problem, make("auto"), stop=[CertifiedGap(1e-9)]) for problem in (merged, plain)]
    zeros, expected = merged.model_weights(ends[0].weights) == 0.0, ends[1].weights == 0.0
    assert 0 < np.count_nonzero(expected) < len(expected)
    np.testing.assert_array_equal(zeros, expected)


def test_there_is_nothing_to_merge_in_most_small_sets():
    corpus = random_corpus(1, n_attributes=4)
    features = build_feature_map(corpus, 4, 3)
    assert merge_equal(corpus, features) is None
    assert isinstance(choose_problem(make("auto"), corpus, features, c2=1.0), Problem)


def test_features_that_differ_where_data_do_not_are_not_merged():
    corpus, features = with_copies(9)
    fewer = features.offsets.copy()
    fewer[2:] -= 1  # attribute 1 loses a weight, its copies do not
    assert merge_equal(corpus, features._replace(offsets=fewer, labels=np.delete(features.labels, fewer[1]))) is None


@pytest.mark.parametrize(("solver", "c1", "c2"), [("lbfgs", 0.0, 1.0), ("auto", 0.0, 0.0), ("auto", 0.1, 0.0)])
def test_other_solvers_and_penalties_take_the_data_as_they_are(solver, c1, c2):
    corpus, features = with_copies(4)
    assert isinstance(choose_problem(make(solver), corpus, features, c1, c2), Problem)


def items(words):
    return [{"word": word, "lower": word.lower(), "last": word[-1]} for word in words]


X = [items(words.split()) for words in ("Elm St", "Oak Av 5", "31 Elm St", "Paris", "Oak St 7", "Rome")]
Y = [list(labels) for labels in ("AB", "ABN", "NAB", "C", "ABN", "C")]


def test_a_model_has_a_weight_for_each_attribute_of_the_data():
    auto, plain = CRF(c2=0.1, tol=1e-8).fit(X, Y), CRF("lbfgs", c2=0.1, tol=1e-8).fit(X, Y)
    assert auto.state_features_.keys() == plain.state_features_.keys()
    for name, weight in plain.state_features_.items():
        assert auto.state_features_[name] == pytest.approx(weight, abs=1e-3)
    assert auto.state_features_["word:Rome", "C"] == auto.state_features_["lower:rome", "C"]
    assert auto.certificate_.relative_gap <= 1e-8


def test_held_out_scores_and_warm_starts_are_those_of_the_model():
    auto = CRF(c2=0.1, tol=1e-8).fit(X, Y, X_dev=X, y_dev=Y)
    assert auto.history_[-1]["dev_accuracy"] == 1.0
    before = auto.history_[-1]["objective"]
    auto.fit(X, Y, init=auto)
    assert auto.history_[0]["objective"] == pytest.approx(before, rel=1e-12)
