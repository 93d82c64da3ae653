"""Weights to start from are found by name, whatever the order of attributes, labels and features."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.warm_start import starting_weights
from fastcrf.model.model import Model
from reference.raw_corpora import labeled_corpora


def random_model(X, y, seed, **options):
    corpus, ids, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(ids), len(labels), **options)
    return Model(labels, ids, features, np.random.default_rng(seed).normal(size=features.n_weights))


@settings(max_examples=60)
@given(labeled_corpora(), labeled_corpora(), st.booleans(), st.booleans())
def test_shared_features_keep_their_weights_and_new_ones_start_at_0(old_data, new_data, old_all, new_all):
    X, y = new_data
    y = [["a new label" if label == "X" else label for label in labels] for labels in y]
    old = random_model(*old_data, seed=0, all_states=old_all, all_transitions=old_all)
    new = random_model(X, y, seed=1, all_states=new_all, all_transitions=new_all)
    weights = starting_weights(old, new.attributes, new.labels, new.features)
    carried = Model(new.labels, new.attributes, new.features, weights)
    known_states, known_transitions = old.state_features_, old.transition_features_
    assert carried.state_features_ == {f: known_states[f] for f in new.state_features_.keys() & known_states.keys()}
    assert carried.transition_features_ == {
        f: known_transitions[f] for f in new.transition_features_.keys() & known_transitions.keys()
    }


@settings(max_examples=30)
@given(labeled_corpora())
def test_the_same_features_give_back_the_same_weights(data):
    model = random_model(*data, seed=2)
    np.testing.assert_array_equal(
        starting_weights(model, model.attributes, model.labels, model.features), model.weights
    )
