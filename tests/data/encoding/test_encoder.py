"""X and y become arrays: ids by first appearance, every lane with the same result, a sentence for what does not fit."""

from __future__ import annotations

import tracemalloc
from collections import UserList

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.encoding import reader_loading, stream_gatherer
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.encoding.input_shapes import SHAPE
from fastcrf.data.encoding.items import flatten
from fastcrf.exceptions import DataError
from reference.raw_corpora import items, labeled_corpora


def attributes_of(corpus, names):
    """[[(name, value), ...] of each position] of each sequence."""
    values = corpus.values if len(corpus.values) else np.ones(len(corpus.attributes))
    pairs = [(names[a], value) for a, value in zip(corpus.attributes.tolist(), values.tolist(), strict=True)]
    positions = [pairs[i:j] for i, j in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]
    return [positions[i:j] for i, j in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)]


def plain_attributes(X):
    """The same by definition."""
    return [[list(zip(*flatten(item), strict=True)) for item in sequence] for sequence in X]


def that_count(sequences, known):
    """What can add to a score: known attributes with a value that is not 0."""
    return [
        [[(name, value) for name, value in item if name in known and value] for item in sequence]
        for sequence in sequences
    ]


def with_unknown(ids):
    """Names by id, with None for the id -1."""
    return [*ids, None]


@given(st.lists(st.lists(items, min_size=1, max_size=3), min_size=1, max_size=4))
def test_training_keeps_every_attribute_and_numbers_them_by_first_appearance(X):
    corpus, attributes, labels = encode_training(X, [["O"] * len(x) for x in X])
    in_order = dict.fromkeys(name for sequence in plain_attributes(X) for item in sequence for name, _ in item)
    assert attributes.names() == list(in_order)
    assert list(attributes.known.ids.values()) == list(range(len(attributes)))
    assert attributes_of(corpus, attributes.names()) == plain_attributes(X)
    assert labels == ["O"]


@given(st.lists(st.lists(items, max_size=3), max_size=3), st.lists(st.lists(items, max_size=3), max_size=3))
def test_tagging_marks_exactly_the_attributes_that_training_has_not_seen(seen, X):
    seen = [*seen, [["always"]]]
    _, attributes, _ = encode_training(seen, [["O"] * len(x) for x in seen])
    encoder, ids = Encoder(attributes), attributes.known.ids
    expected = that_count(plain_attributes(X), ids)
    assert that_count(attributes_of(encoder.encode(X), with_unknown(ids)), ids) == expected
    one_by_one = [attributes_of(encoder.encode_one(x), with_unknown(ids))[0] for x in X]
    assert that_count(one_by_one, ids) == expected


@given(labeled_corpora())
def test_generators_give_the_same_corpus_as_lists(data):
    X, y = data
    corpus, attributes, labels = encode_training(X, y)
    again, attributes_again, labels_again = encode_training(
        ((item for item in x) for x in X), ((label for label in gold) for gold in y), (1.0 for _ in X)
    )
    for name, array in corpus._asdict().items():
        np.testing.assert_array_equal(array, getattr(again, name))
    assert (attributes, labels) == (attributes_again, labels_again)


def test_the_arrays_have_the_types_that_the_kernels_are_compiled_for():
    corpora = [encode_training([["a"]], [["O"]])[0], encode_training([[{"a": 2}]], [["O"]], [3])[0]]
    corpora += [Encoder(ItemAttributes.of(["a"])).encode([]), Encoder(ItemAttributes.of(["a"])).encode_one([{"a": 2}])]
    for corpus in corpora:
        assert [array.dtype for array in corpus] == [np.int64, np.int64, np.int32, np.float64, np.int32, np.float64]
        assert all(array.flags.writeable and array.flags.c_contiguous and array.flags.aligned for array in corpus)


def test_values_are_absent_while_all_are_one_and_complete_from_the_first_that_is_not():
    assert len(encode_training([[{"a": 1, "b": "c", "d": True}, ["e"]]], [["X", "Y"]])[0].values) == 0
    corpus, _, _ = encode_training(
        [[["a"], {"b": "c"}], [{"d": 0.5, "e": True}, ["f"], {"g": False}]], [[*"XY"], [*"XYX"]]
    )
    assert corpus.values.tolist() == [1, 1, 0.5, 1, 1, 0]


def test_unknown_attributes_keep_their_values_in_place():
    corpus = Encoder(ItemAttributes.of(["a"])).encode([[{"z": 7.0, "a": 2.0}]])
    assert corpus.attributes.tolist() == [-1, 0]
    assert corpus.values.tolist() == [7.0, 2.0]


def test_labels_are_numbered_by_first_appearance_and_come_back_as_given():
    gold = [["b", ("t", 1)], [True, "b"], [3.5, frozenset("x")]]
    corpus, _, labels = encode_training([[["a"], ["b"]]] * 3, gold)
    assert labels == ["b", ("t", 1), True, 3.5, frozenset("x")]
    assert corpus.labels.tolist() == [0, 1, 2, 0, 3, 4]


def test_empty_sequences_are_skipped_in_training_with_their_weights():
    corpus, _, _ = encode_training([[], [["a"]], [], [["b"], ["c"]]], [[], ["X"], [], ["Y", "X"]], [9, 2, 9, 3])
    assert corpus.starts.tolist() == [0, 1, 3]
    assert corpus.weights.tolist() == [2, 3]
    assert corpus.labels.tolist() == [0, 1, 0]


def test_empty_sequences_stay_where_they_are_in_tagging():
    corpus = Encoder(ItemAttributes.of(["a"])).encode([[], [["a"], []], []])
    assert corpus.starts.tolist() == [0, 0, 2, 2]
    assert corpus.n_positions == 2


def test_weights_of_empty_sequences_do_not_count():
    with pytest.raises(DataError, match=r"^Every sample_weight is zero"):
        encode_training([[], [["a"]]], [[], ["X"]], [5, 0])


def test_weights_that_are_all_one_are_absent():
    assert len(encode_training([[["a"]]] * 2, [["X"], ["Y"]], [1, 1.0])[0].weights) == 0
    assert len(encode_training([[["a"]], []], [["X"], []], [1, 5])[0].weights) == 0


def test_a_vocabulary_is_extended_in_a_copy():
    _, known, labels = encode_training([[["a"], ["b"]]], [["X", "Y"]])
    corpus, more, more_labels = encode_training([[["c"], ["b"]]], [["Z", "X"]], known=known, labels=labels)
    assert (known.known.ids, labels) == ({"a": 0, "b": 1}, ["X", "Y"])
    assert (more.known.ids, more_labels) == ({"a": 0, "b": 1, "c": 2}, ["X", "Y", "Z"])
    assert corpus.attributes.tolist() == [2, 1]
    assert corpus.labels.tolist() == [2, 0]


def test_a_held_out_set_marks_labels_that_the_model_does_not_know():
    X, y = [[["a", "z"], ["z"]], [], [["a"]]], [["Y", "?"], [], ["X"]]
    corpus = Encoder(ItemAttributes.of(["a"])).encode_labeled(X, y, ["X", "Y"])
    assert corpus.labels.tolist() == [1, -1, 0]
    assert corpus.starts.tolist() == [0, 2, 3]
    assert corpus.attributes.tolist() == [0, -1, -1, 0]


def test_sequences_may_be_any_iterable():
    X = [UserList([["a"]]), np.array([["a"], ["b"]]), "ab", np.array([{"a": 1}, None], dtype=object)[:1]]
    y = [["X"], UserList("XY"), np.array(["X", "Y"]), ("X",)]
    corpus, attributes, _ = encode_training(np.array([*X, None], dtype=object)[:-1], y)
    assert attributes_of(corpus, attributes.names()) == plain_attributes(X)


@pytest.mark.parametrize("module", [None, stream_gatherer], ids=["plain", "compiled"])
def test_encoding_takes_little_more_memory_than_the_arrays(module, monkeypatch):
    monkeypatch.setattr(reader_loading, "WORTH_LOADING", 10**9)
    monkeypatch.setattr(reader_loading.Loading, "module", module)
    n_positions, n_attributes = 20_000, 20
    item = [f"a{k}" for k in range(n_attributes)]
    X = ((item for _ in range(10)) for _ in range(n_positions // 10))
    encode_training([[item]], [["O"]])  # what is loaded at the first use is not counted
    tracemalloc.start()
    corpus, _, _ = encode_training(X, (["O"] * 10 for _ in range(n_positions // 10)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(corpus.attributes) == n_positions * n_attributes
    assert peak < 6 * len(corpus.attributes)  # 4 bytes each, 12 a position, and room to grow


ONE = [[["a"]]], [["X"]]
NAN = float("nan")
PER_SEQUENCE = "give one list of labels per sequence"
NO_ITEM = "There is nothing to train on: X contains no sequence with at least one item."
LEAVE_OUT = "leave the key out, or give a"
ROWS = "and earlier sequences are not; give arrays alone, or dicts and lists"

UNUSABLE = [
    ([[{"a": None}]], [["X"]], f"X[0], item 0, key 'a' has the value None; {LEAVE_OUT} string or a number."),
    (
        [[["a"]], [["a"], {"k": {"b": NAN}}]],
        [["X"], ["X", "Y"]],
        f"X[1], item 1, key 'k:b' has the value nan; {LEAVE_OUT} finite number.",
    ),
    ([[["a"], {1: 2}]], [["X", "Y"]], "X[0], item 1 has 1 where a string is needed; convert it by str()."),
    ([[["a"]], [["a"], ["b"]]], [["X"], ["X"]], "X[1] has 2 items and y[1] has 1 labels; give one label per item."),
    ([[["a"]], []], [["X"], ["X"]], "X[1] has 0 items and y[1] has 1 labels; give one label per item."),
    ([[["a"]]] * 3, [["X"]] * 2, f"X has 3 sequences and y has 2; {PER_SEQUENCE}."),
    ((x for x in [[["a"]]] * 3), [["X"]] * 2, f"y ends after 2 sequences and X has more; {PER_SEQUENCE}."),
    ([[["a"]]], (gold for gold in [["X"]] * 2), f"X ends after 1 sequences and y has more; {PER_SEQUENCE}."),
    ([], [], NO_ITEM),
    ([[], []], [[], []], NO_ITEM),
    (ONE[0], [[["X"]]], "y[0], position 0: unhashable type: 'list'; a label must be hashable, such as a string."),
    (ONE[0], [[NAN]], "A label in y is NaN, which does not equal itself; give missing labels a name of their own."),
    (ONE[0], [3], f"y[0] is an int, not a sequence of labels; {PER_SEQUENCE}."),
    (ONE[0], "X", "y is a str; give one list of labels per sequence of X."),
    (ONE[0], None, "y is None; give one list of labels per sequence of X."),
    ([{"a": 1}], [["X"]], "X[0] is a dict, so it looks like a single item; put the items in a list."),
    ([3], [["X"]], f"X[0] is an int, not a sequence of items; give {SHAPE}."),
    (
        [["a"], scipy.sparse.csr_matrix(np.eye(2))],
        [["Z"], ["X", "Y"]],
        f"X[1] is a csr_matrix of shape (2, 2), {ROWS}.",
    ),
    ([["a"], np.eye(2)], [["Z"], ["X", "Y"]], f"X[1] is an array of shape (2, 2), {ROWS}."),
]


@pytest.mark.parametrize(("X", "y", "message"), UNUSABLE)
def test_what_cannot_be_trained_on_gets_one_sentence(X, y, message):
    with pytest.raises(DataError) as caught:
        encode_training(X, y)
    assert str(caught.value) == message


class Table:
    """Looks like a data frame."""

    columns = ("a", "b")
    iloc = shape = (2, 2)

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return 2


@pytest.mark.parametrize("X", [np.eye(2), scipy.sparse.csr_array(np.eye(2)), Table(), np.float64(3)])
def test_matrices_and_tables_are_answered_with_the_remedy(X):
    for encode in (lambda: encode_training(X, [["X"], ["Y"]]), lambda: Encoder(ItemAttributes.of([])).encode(X)):
        with pytest.raises(DataError, match=r"^X is an? .*; give|^X is an? .*: give one sequence of items"):
            encode()


def test_a_single_sequence_in_place_of_X_is_noticed():
    with pytest.raises(
        DataError, match=r"^X\[0\] is a dict, so it looks like a single item; put the items in a list\.$"
    ):
        Encoder(ItemAttributes.of(["a"])).encode([{"a": 1}])
    with pytest.raises(DataError, match=r"^The sequence is a dict"):
        Encoder(ItemAttributes.of(["a"])).encode_one({"a": 1})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "sample_weight has 2 weights and X has 1 sequences; give one per sequence."),
        ([-1], "sample_weight[0] is -1.0; weights must be finite and >= 0."),
        ([float("nan")], "sample_weight[0] is nan; weights must be finite and >= 0."),
        ([float("inf")], "sample_weight[0] is inf; weights must be finite and >= 0."),
        ([0], "Every sample_weight is zero, so there is nothing to train on; give one that is positive."),
        ([[1]], "sample_weight has shape (1, 1); give one number per sequence, not per item."),
        (["heavy"], "sample_weight is a list; give one number >= 0 per sequence."),
        (3, "sample_weight is an int; give one number >= 0 per sequence."),
    ],
)
def test_weights_that_cannot_be_used_get_one_sentence(weights, message):
    with pytest.raises(DataError) as caught:
        encode_training(*ONE, weights)
    assert str(caught.value) == message
