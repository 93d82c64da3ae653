"""On the same weights, loss, probabilities and labels are those of CRFsuite."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.model.model import Model
from fastcrf.objective.problem import Problem
from reference import crfsuite_model
from reference.raw_corpora import labeled_corpora

PENALTIES = st.sampled_from([{"c1": 0.0, "c2": 1.0}, {"c1": 0.0, "c2": 0.01}, {"c1": 0.1, "c2": 0.0}])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("crfsuite")


def with_weights_of(peer, X, y):
    """Our encoding of the corpus, and a model with exactly the peer's weights."""
    corpus, attributes, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(attributes), len(labels), drop_negative=True)
    model = Model(labels, attributes, features, np.zeros(features.n_weights))
    names, n = attributes.names(), features.n_state
    owners = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
    for f in range(n):
        model.weights[f] = peer.states.get((names[owners[f]], labels[features.labels[f]]), 0.0)
    for e, (j, k) in enumerate(zip(features.sources, features.targets, strict=True)):
        model.weights[n + e] = peer.transitions.get((labels[j], labels[k]), 0.0)
    assert np.count_nonzero(model.weights) == len(peer.states) + len(peer.transitions)
    return corpus, model


def crfsuite_loss(tagger, X, y):
    loss = 0.0
    for x, labels in zip(X, y, strict=True):
        tagger.set(x)
        loss -= math.log(tagger.probability(labels)) if x else 0.0
    return loss


def assert_same_inference(peer, corpus, model, X, y):
    loss = Problem(corpus, model.features).value(model.weights)
    assert loss == pytest.approx(crfsuite_loss(peer.tagger, X, y), rel=1e-9, abs=1e-9)
    for x, marginals, tags in zip(X, model.predict_marginals(X), model.predict(X), strict=True):
        assert tags == peer.tagger.tag(x)  # sets the sequence for `marginal`, too
        for t, row in enumerate(marginals):
            assert row == pytest.approx({k: peer.tagger.marginal(k, t) for k in peer.labels}, abs=1e-9)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(labeled_corpora(), PENALTIES, st.integers(1, 8))
def test_loss_probabilities_and_labels_equal_crfsuite_on_its_weights(folder, data, penalty, iterations):
    """Weights after a few iterations are far from special: neither zero nor optimal."""
    X, y = data
    peer = crfsuite_model.train(X, y, folder, max_iterations=iterations, **penalty)
    corpus, model = with_weights_of(peer, X, y)
    assert model.labels == peer.labels
    assert_same_inference(peer, corpus, model, X, y)


def test_a_corpus_of_addresses_gives_the_loss_that_crfsuite_logs(folder):
    tokens, y = make_addresses(80)
    X = [address_items(sequence) for sequence in tokens]
    peer = crfsuite_model.train(X, y, folder, c1=0.05, c2=0.2, max_iterations=12)
    corpus, model = with_weights_of(peer, X, y)
    assert_same_inference(peer, corpus, model, X, y)
    objective = Problem(corpus, model.features, c1=0.05, c2=0.2).value(model.weights)
    assert objective == pytest.approx(peer.iterations[-1]["loss"], abs=1e-6)  # six decimals are logged
