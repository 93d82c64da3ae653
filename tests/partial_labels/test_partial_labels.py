"""Training on partial labels against enumeration: loss, gradient, and what a fit learns from tokens without labels."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from fastcrf import CRF
from fastcrf.constraints.allowed import make_allowed
from fastcrf.exceptions import DataError
from fastcrf.objective.problem import Problem
from fastcrf.partial_labels.problem import PartialProblem, fully_labeled
from reference import brute_force
from reference.enumerated_constraints import allowed_paths, distribution
from reference.random_corpora import random_corpus, random_features
from reference.toy_sequences import toy_sequences


@st.composite
def problems(draw, scales=(0.0, 1.0, 40.0)):
    """(corpus, features, weights, allowed): each position allows its label, and some allow others."""
    seed, K = draw(st.integers(0, 2**32)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 5 if K < 4 else 4), min_size=1, max_size=4))
    corpus = random_corpus(seed, lengths=tuple(lengths), n_labels=K, values=draw(st.booleans()), weights=True)
    features = random_features(seed, n_labels=K, order=draw(st.sampled_from([1, 2])), density=0.7)
    rng = np.random.default_rng([seed, 5])
    sets = rng.random((corpus.n_positions, K)) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    sets[np.arange(corpus.n_positions), corpus.labels] = True
    everything = np.ones((1, K), bool)
    allowed = make_allowed(
        np.arange(1, corpus.n_positions + 1), np.concatenate((everything, sets)), np.ones((K, K), bool)
    )
    return corpus, features, draw(st.sampled_from(scales)) * rng.uniform(-1, 1, features.n_weights), allowed


def enumerated_loss(corpus, features, weights, allowed):
    """sum_i s_i * -log of the probability of all label sequences that are allowed."""
    transitions, loss = brute_force.transition_scores(features, weights), 0.0
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        scores = brute_force.label_scores(corpus, features, weights, i)
        _, known = distribution(scores, transitions, allowed_paths(allowed, first, last))
        loss += corpus.weights[i] * (brute_force.log_partition(scores, transitions) - known)
    return loss


@settings(max_examples=60)
@given(problems())
def test_the_loss_is_that_of_the_label_sequences_that_are_possible(problem):
    corpus, features, weights, allowed = problem
    size = max(1.0, np.abs(weights).max(initial=0.0))
    partial, expected = PartialProblem(corpus, features, allowed, c2=0.1), enumerated_loss(*problem)
    penalty = 0.1 * weights @ weights
    assert partial.value(weights) == pytest.approx(expected + penalty, rel=1e-10, abs=1e-9 * size)
    assert partial.gradient(weights)[0] == pytest.approx(expected + penalty, rel=1e-10, abs=1e-9 * size)


@settings(max_examples=20)
@given(problems(scales=(1.0,)))
def test_the_gradient_is_that_of_the_enumerated_loss(problem):
    corpus, features, weights, allowed = problem
    partial = PartialProblem(corpus, features, allowed, n_jobs=2)

    def value(w):
        return enumerated_loss(corpus, features, w, allowed)

    assert check_grad(value, lambda w: partial.gradient(w)[1], weights, epsilon=1e-6) < 1e-4
    some = np.array([0, 0])
    loss, gradient = partial.subset_gradient(weights, some)
    first = corpus.slice_of(0, 1)
    own = first, features, weights, allowed.slice_of(0, first.n_positions)
    assert loss == pytest.approx(2 * enumerated_loss(*own), abs=1e-9)
    assert check_grad(lambda w: 2 * enumerated_loss(first, features, w, own[3]),
                      lambda w: partial.subset_gradient(w, some)[1], weights, epsilon=1e-6) < 1e-4  # fmt: skip
    assert gradient.shape == weights.shape


def test_with_all_labels_known_it_is_the_usual_objective():
    corpus, features = random_corpus(3, lengths=(4, 3)), random_features(3)
    weights = np.random.default_rng(3).normal(size=features.n_weights)
    sets = np.concatenate((np.ones((1, 3), bool), np.eye(3, dtype=bool)))
    allowed = make_allowed(corpus.labels + 1, sets, np.ones((3, 3), bool))
    partial, usual = PartialProblem(corpus, features, allowed, c2=0.5), Problem(corpus, features, c2=0.5)
    assert partial.value(weights) == pytest.approx(usual.value(weights), rel=1e-12)
    np.testing.assert_allclose(partial.gradient(weights)[1], usual.gradient(weights)[1], atol=1e-12)


def test_labeled_runs_become_sequences_of_their_own():
    corpus = random_corpus(2, lengths=(5, 2, 3), weights=True)
    known = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0, 1], bool)
    runs = fully_labeled(corpus, known)
    assert np.diff(runs.starts).tolist() == [2, 1, 1, 1]
    np.testing.assert_array_equal(runs.labels, corpus.labels[known])
    np.testing.assert_array_equal(runs.weights, corpus.weights[[0, 0, 2, 2]])
    for new, old in enumerate(np.flatnonzero(known).tolist()):
        np.testing.assert_array_equal(
            runs.attributes[runs.offsets[new] : runs.offsets[new + 1]],
            corpus.attributes[corpus.offsets[old] : corpus.offsets[old + 1]],
        )


X, Y = toy_sequences(40)


def hide(y, share, seed=0):
    rng = np.random.default_rng(seed)
    return [[None if rng.random() < share else label for label in labels] for labels in y]


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "owlqn", "prox-lbfgs"])
@pytest.mark.parametrize("order", [1, 2])
def test_solvers_reach_a_stationary_point_that_is_no_worse_than_their_start(solver, order):
    c1 = 0.3 if solver in ("owlqn", "prox-lbfgs") else 0.0
    crf = CRF(solver, c1=c1, c2=0.2, order=order, partial_labels=True, tol=1e-6, n_jobs=1).fit(X, hide(Y, 0.4))
    last, first = crf.history_[-1], crf.history_[0]
    assert last["objective"] <= first["objective"]
    assert last["gradient_norm"] < 0.02 * max(1.0, last["objective"])
    assert math.isinf(crf.certificate_.gap)
    assert not crf.certificate_.convex
    assert "not convex" in str(crf.certificate_)
    assert "local optimum" in crf.model_.options["training"]["stop_reason"]


def test_tokens_without_labels_teach():
    """b follows a in all sequences, but only a has a label where they are together: the rest says that b is B."""
    X = [[["a"], ["b"]]] * 20 + [[["c"]], [["b"]]] * 2
    y = [["A", {"B", "C"}]] * 20 + [["C"], ["B"]] * 2
    crf = CRF(c2=0.1, partial_labels=True, n_jobs=1).fit(X, y)
    assert crf.predict([[["a"], ["b"]]]) == [["A", "B"]]
    known = CRF(c2=0.1, n_jobs=1).fit([x for x, labels in zip(X, y, strict=True) if len(labels) == 1],
                                      [labels for labels in y if len(labels) == 1])  # fmt: skip
    assert crf.predict_marginals_single([["b"]])[0]["B"] > known.predict_marginals_single([["b"]])[0]["B"]


def test_labels_that_only_sets_have_are_labels_of_the_model():
    crf = CRF(c2=0.1, partial_labels=True, n_jobs=1).fit([[["a"], ["b"]]] * 5, [["A", {"D", "C"}]] * 5)
    assert crf.classes_ == ["A", "C", "D"]
    assert crf.predict([[["a"], ["b"]]])[0][1] in {"C", "D"}


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"algorithm": "sgd"}, "in training on partial labels; use auto, lbfgs, owlqn or another batch solver"),
        ({"algorithm": "newton-cg"}, "in training on partial labels"),
        ({"constraints": "BIO", "constrained_training": True}, "cannot be combined with constrained_training"),
        ({"engine": "local:1"}, "is for data in one process"),
    ],
)
def test_what_cannot_train_on_partial_labels_is_reported(parameters, fault):
    with pytest.raises(ValueError, match=fault):
        CRF(partial_labels=True, **parameters).fit(X, hide(Y, 0.4))


def test_wrong_partial_labels_are_reported():
    with pytest.raises(DataError, match="No token in y has a label of its own"):
        CRF(partial_labels=True).fit([[["a"]]], [[None]])
    with pytest.raises(DataError, match=r"y\[0\], position 1: the set of labels is empty"):
        CRF(partial_labels=True).fit([[["a"], ["b"]]], [["A", set()]])
    with pytest.raises(DataError, match="set partial_labels=True"):
        CRF().fit([[["a"]]], [[None]])
    with pytest.raises(ValueError, match="requires all data at once"):
        CRF(partial_labels=True).partial_fit(X, Y)
