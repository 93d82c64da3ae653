"""Training over allowed label sequences against enumeration: loss, gradient, figures for the certificate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from fastcrf import CRF, Constraints
from fastcrf.constrained_training.problem import ConstrainedLikelihood
from fastcrf.constraints.allowed import make_allowed
from fastcrf.exceptions import ConstraintError
from reference import brute_force
from reference.enumerated_constraints import allowed_paths, distribution
from reference.random_corpora import random_corpus, random_features


@st.composite
def problems(draw, scales=(0.0, 1.0, 40.0, 2000.0)):
    """(corpus, features, weights, allowed) in which the gold labels are allowed."""
    seed, K = draw(st.integers(0, 2**32)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 5 if K < 4 else 4), min_size=1, max_size=4))
    corpus = random_corpus(seed, lengths=tuple(lengths), n_labels=K, values=draw(st.booleans()), weights=True)
    features = random_features(seed, n_labels=K, order=draw(st.sampled_from([1, 2])), density=0.7)
    rng = np.random.default_rng([seed, 3])
    transitions = rng.random((K, K)) < 0.6
    for first, last in pairwise(corpus.starts.tolist()):
        for j, k in pairwise(corpus.labels[first:last].tolist()):
            transitions[j, k] = True
    sets = rng.random((corpus.n_positions, K)) < 0.6
    sets[np.arange(corpus.n_positions), corpus.labels] = True
    sets = np.concatenate((np.ones((1, K), bool), sets))
    set_of = np.where(rng.random(corpus.n_positions) < 0.5, 0, np.arange(1, corpus.n_positions + 1))
    weights = draw(st.sampled_from(scales)) * rng.uniform(-1, 1, features.n_weights)
    return corpus, features, weights, make_allowed(set_of, sets, transitions)


def enumerated(corpus, features, weights, allowed):
    """(log Z, expected score, gold score) of each sequence, and the loss."""
    transitions, rows, loss = brute_force.transition_scores(features, weights), [], 0.0
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        scores = brute_force.label_scores(corpus, features, weights, i)
        chances, log_z = distribution(scores, transitions, allowed_paths(allowed, first, last))
        expected = sum(p * brute_force.path_score(scores, transitions, path) for path, p in chances.items())
        gold = brute_force.path_score(scores, transitions, corpus.labels[first:last].tolist())
        rows.append((log_z, expected, gold))
        loss += corpus.weights[i] * (log_z - gold)
    return np.array(rows), loss


@settings(max_examples=25)
@given(problems())
def test_loss_and_figures_equal_enumeration(problem):
    corpus, features, weights, allowed = problem
    size = max(1.0, np.abs(weights).max(initial=0.0))
    likelihood = ConstrainedLikelihood(corpus, features, allowed)
    figures, loss = enumerated(*problem)
    np.testing.assert_allclose(likelihood.sequence_figures(weights), figures, rtol=1e-10, atol=1e-9 * size)
    np.testing.assert_allclose(likelihood.log_partitions(weights), figures[:, 0], rtol=1e-12, atol=1e-11 * size)
    assert likelihood.gradient(weights)[0] == pytest.approx(loss, rel=1e-10, abs=1e-9 * size)


@settings(max_examples=12)
@given(problems(scales=(1.0,)))
def test_the_gradient_is_that_of_the_enumerated_loss(problem):
    corpus, features, weights, allowed = problem
    likelihood = ConstrainedLikelihood(corpus, features, allowed, n_jobs=2)

    def value(w):
        return enumerated(corpus, features, w, allowed)[1]

    assert check_grad(value, lambda w: likelihood.gradient(w)[1], weights, epsilon=1e-6) < 1e-4


X = [[{"w": word} for word in line.split()] for line in ("a b c", "c a", "b b a c", "a", "c c b")] * 4
Y = [line.split() for line in ("B-X I-X O", "O B-X", "B-X B-X I-X O", "B-X", "O O B-X")] * 4


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("c1", "c2"), [(0.0, 0.5), (0.3, 0.0), (0.2, 0.2)])
def test_fit_ends_at_a_certified_optimum_that_is_below_unconstrained_training(order, c1, c2):
    plain = CRF(c1=c1, c2=c2, order=order, tol=1e-4).fit(X, Y)
    crf = CRF(c1=c1, c2=c2, order=order, constraints="BIO", constrained_training=True, tol=1e-4).fit(X, Y)
    assert crf.converged_
    assert crf.certificate_.lower_bound <= crf.certificate_.objective < plain.certificate_.lower_bound
    penalty = sum(c1 * abs(w) + c2 * w * w for w in crf.model_.weights)
    assert crf.certificate_.objective == pytest.approx(penalty - crf.log_proba(X, Y).sum(), rel=1e-9)


def test_training_labels_that_are_not_allowed_are_named():
    broken = [list(labels) for labels in Y]
    broken[1] = ["O", "I-X"]
    crf = CRF(constraints="BIO", constrained_training=True)
    with pytest.raises(
        ConstraintError, match=r"y\[1\], position 1: the label 'I-X' may not follow 'O' \(1 of 52"
    ) as caught:
        crf.fit(X, broken)
    assert (caught.value.sequence, caught.value.position) == (1, 1)
    broken[0][0] = "I-X"
    with pytest.raises(ConstraintError, match=r"y\[0\], position 0: the label 'I-X' is not allowed there"):
        crf.fit(X, broken)
    assert CRF(constraints="BIO").fit(X, broken).constraint_proba(X).max() < 1.0


def test_constrained_training_says_what_it_requires():
    with pytest.raises(ValueError, match="requires constraints"):
        CRF(constrained_training=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"sgd requires a problem .* in constrained training; use auto, lbfgs"):
        CRF("sgd", constraints="BIO", constrained_training=True).fit(X, Y)
    with pytest.raises(ValueError, match="call fit"):
        CRF(constraints="BIO", constrained_training=True).partial_fit(X, Y)
    crf = CRF(constraints=Constraints("auto", dictionary="w:", dictionary_min_count=1), constrained_training=True)
    model = crf.fit(X, Y).model_
    assert model.constraints.scheme == "BIO"
    assert {name: sorted(labels) for name, labels in model.constraints.dictionary.items()} == {
        "w:a": ["B-X", "I-X"], "w:b": ["B-X", "I-X"], "w:c": ["O"]
    }  # fmt: skip
