"""Features and their counts are CRFsuite's: against CRFsuite itself, and against their definition by names."""

from __future__ import annotations

import numpy as np
import pycrfsuite
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.datasets.feature_sets import chunking as chunking_items
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.feature_space.feature_map import build_feature_map, count_gold
from reference import plain_features
from reference.data_folder import corpus_file
from reference.raw_corpora import labeled_corpora

OPTIONS = st.fixed_dictionaries(
    {
        "all_states": st.booleans(),
        "all_transitions": st.booleans(),
        "min_freq": st.sampled_from([0.0, 0.25, 1.0, 2.0]),
        "drop_negative": st.booleans(),
    }
)


def crfsuite_count(X, y, all_states, all_transitions, min_freq):
    """How many features CRFsuite generates."""
    trainer = pycrfsuite.Trainer(verbose=False, params={"max_iterations": 1})
    trainer.set("feature.possible_states", all_states)
    trainer.set("feature.possible_transitions", all_transitions)
    trainer.set("feature.minfreq", min_freq)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train("")
    return trainer.logparser.featgen_num_features


def named(features, attributes, labels, numbers):
    """{(attribute, label): number} and {(label, label): number}."""
    names = attributes.names()
    owners = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
    states = [(names[a], labels[k]) for a, k in zip(owners, features.labels, strict=True)]
    transitions = [(labels[j], labels[k]) for j, k in zip(features.sources, features.targets, strict=True)]
    numbers = numbers.tolist()
    n = features.n_state
    return dict(zip(states, numbers[:n], strict=True)), dict(zip(transitions, numbers[n:], strict=True))


@settings(max_examples=60)
@given(labeled_corpora(), OPTIONS)
def test_there_are_as_many_features_as_in_crfsuite(data, options):
    X, y = data
    corpus, known, labels = encode_training(X, y)
    options["drop_negative"] = True
    features = build_feature_map(corpus, len(known), len(labels), **options)
    del options["drop_negative"]
    assert features.n_weights == crfsuite_count(X, y, **options)


@settings(max_examples=60)
@given(labeled_corpora(), OPTIONS, st.data())
def test_features_and_gold_counts_are_those_of_the_definition(data, options, draw):
    X, y = data
    weights = draw.draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1, 3]), min_size=len(X), max_size=len(X)))
    if weights is not None:
        weights[next(i for i, sequence in enumerate(X) if sequence)] = 1.0  # weights that are all zero are refused
    corpus, known, labels = encode_training(X, y, weights)
    features = build_feature_map(corpus, len(known), len(labels), **options)
    found = named(features, known, labels, count_gold(corpus, features))
    assert found == plain_features.features(X, y, weights, **options)


@settings(max_examples=30)
@given(labeled_corpora(), OPTIONS)
def test_features_are_ordered_by_attribute_and_label_then_by_label_pair(data, options):
    corpus, known, labels = encode_training(*data)
    features = build_feature_map(corpus, len(known), len(labels), **options)
    attributes = np.repeat(np.arange(len(known)), np.diff(features.offsets))
    states = list(zip(attributes.tolist(), features.labels.tolist(), strict=True))
    transitions = list(zip(features.sources.tolist(), features.targets.tolist(), strict=True))
    assert states == sorted(set(states))
    assert transitions == sorted(set(transitions))
    assert [array.dtype for array in features[:4]] == [np.int64, np.int32, np.int32, np.int32]


def test_a_pair_whose_values_sum_below_zero_is_kept_unless_crfsuites_way_is_asked_for():
    corpus, known, labels = encode_training([[{"a": -2.0}]], [["X"]])
    assert build_feature_map(corpus, len(known), len(labels)).n_weights == 1
    assert build_feature_map(corpus, len(known), len(labels), drop_negative=True).n_weights == 0
    assert build_feature_map(corpus, len(known), len(labels), min_freq=0.5).n_weights == 0


def test_a_weight_counts_like_as_many_copies():
    X, y = [[["a"], ["b"]], [["a", "a"]]], [["X", "Y"], ["Y"]]
    corpus, known, labels = encode_training(X, y, [3, 1])
    copies, _, _ = encode_training([X[0]] * 3 + [X[1]], [y[0]] * 3 + [y[1]])
    for min_freq in (0, 2, 3, 4):
        weighted = build_feature_map(corpus, len(known), len(labels), min_freq=min_freq)
        copied = build_feature_map(copies, len(known), len(labels), min_freq=min_freq)
        np.testing.assert_array_equal(weighted.labels, copied.labels)
        np.testing.assert_array_equal(count_gold(corpus, weighted), count_gold(copies, copied))


def test_a_single_label_and_items_without_attributes_are_no_special_case():
    corpus, known, labels = encode_training([[[], ["a"], []]], [["X", "X", "X"]])
    features = build_feature_map(corpus, len(known), len(labels))
    assert count_gold(corpus, features).tolist() == [1, 2]


def test_attributes_that_do_not_occur_have_no_feature_even_with_all_states():
    known, labels = ItemAttributes.of(["a"]), ["X", "Y", "Z"]
    corpus, known, labels = encode_training([[["b"], ["c"]]], [["X", "Y"]], None, known, labels)
    features = build_feature_map(corpus, len(known), len(labels), all_states=True)
    assert features.offsets.tolist() == [0, 0, 3, 6]


def test_transitions_can_be_left_out():
    corpus, known, labels = encode_training([[["a"], ["b"]]], [["X", "Y"]])
    features = build_feature_map(corpus, len(known), len(labels), all_transitions=True, transitions=False)
    assert (features.n_state, features.n_weights) == (2, 2)


def test_gold_counts_pass_over_unknown_labels_and_pairs_without_a_feature():
    X, y = [[["a"], ["b"], ["b"]]], [["X", "Y", "Y"]]
    corpus, known, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(known), len(labels))
    held_out = Encoder(known).encode_labeled([[["a"], ["a"], ["b"], ["b"], ["b"]]], [["X", "Y", "?", "Y", "Y"]], labels)
    assert named(features, known, labels, count_gold(held_out, features)) == (
        {("a", "X"): 1.0, ("b", "Y"): 2.0},
        {("X", "Y"): 1.0, ("Y", "Y"): 1.0},
    )


def test_conll2000_has_crfsuites_numbers_of_chunking_features():
    sentences = [sentence.rows for sentence in read_columns(corpus_file("conll2000/train.txt.gz"))]
    corpus, known, labels = encode_training(map(chunking_items, sentences), ([row[2] for row in s] for s in sentences))
    assert (len(sentences), len(known), len(labels)) == (8_936, 335_674, 22)
    for everything, n_weights in ((False, 452_755), (True, 7_385_312)):
        features = build_feature_map(corpus, len(known), len(labels), all_states=everything, all_transitions=everything)
        assert features.n_weights == n_weights
