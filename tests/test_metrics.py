from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support
from sklearn.base import BaseEstimator
from sklearn_crfsuite import metrics as theirs

from fastcrf import metrics, scorers
from fastcrf.metrics import segment_scores, segments

MARKED = ["O", "B-a", "I-a", "B-b", "I-b", "E-a", "S-a", "E-b", "S-b"]


def paired_sequences(labels, min_size=1):
    """Gold and predicted labels of the same lengths."""
    pair = st.lists(st.tuples(st.sampled_from(labels), st.sampled_from(labels)), min_size=min_size, max_size=9)
    return st.lists(pair, min_size=min_size, max_size=6).map(
        lambda pairs: ([[a for a, _ in p] for p in pairs], [[b for _, b in p] for p in pairs])
    )


@given(paired_sequences(MARKED))
def test_segment_scores_equal_seqeval_in_its_default_mode(pair):
    y_true, y_pred = pair
    scores = segment_scores(y_true, y_pred)
    if not scores.overall.n_true and not scores.overall.n_predicted:
        assert scores.overall == (0.0, 0.0, 0.0, 0, 0, 0)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval warns where a type was never predicted
        overall = precision_recall_fscore_support(y_true, y_pred, average="micro")
        by_type = precision_recall_fscore_support(y_true, y_pred, average=None)
    assert scores.overall[:4] == pytest.approx(overall)
    assert list(scores.by_type) == sorted(scores.by_type)
    for column, values in enumerate(by_type):
        assert [score[column] for score in scores.by_type.values()] == pytest.approx(list(values))


@given(paired_sequences(["B", "I", "O"]))
def test_marks_without_a_type_are_read_as_seqeval_reads_them(pair):
    y_true, y_pred = [["B"], *pair[0]], [["B"], *pair[1]]
    expected = precision_recall_fscore_support(y_true, y_pred, average="micro")
    assert segment_scores(y_true, y_pred).overall[:4] == pytest.approx(expected)


@given(st.lists(st.sampled_from(["x", "y", "O"]), max_size=12))
def test_plain_labels_are_cut_into_their_maximal_runs(labels):
    expected, t = [], 0
    while t < len(labels):
        stop = t
        while stop < len(labels) and labels[stop] == labels[t]:
            stop += 1
        expected += [(labels[t], t, stop)] * (labels[t] != "O")
        t = stop
    assert segments(labels) == expected


def test_iob1_and_iob2_spell_the_same_segments():
    assert segments(["I-a", "I-a", "B-a", "O", "I-b"]) == segments(["B-a", "I-a", "B-a", "O", "B-b"])


def test_bilou_and_iobes_spell_the_same_segments():
    assert segments(["B-a", "L-a", "U-b", "O"]) == segments(["B-a", "E-a", "S-b", "O"]) == [("a", 0, 2), ("b", 2, 3)]


def test_a_segment_never_reaches_into_the_next_sequence():
    assert segment_scores([["B-a"], ["I-a"]], [["B-a"], ["I-a"]]).overall.n_true == 2


def test_letters_are_plain_labels_unless_all_of_them_are_marks():
    assert segment_scores([["E", "E", "S"]], [["E", "E", "S"]]).overall.n_true == 2  # east, south
    assert segment_scores([["B", "I", "N"]], [["B", "I", "N"]]).overall.n_true == 3


def test_labels_of_any_kind_can_be_counted():
    scores = segment_scores([[1, 1, (2, "x")], [None]], [[1, 1, 1], [None]])
    assert scores.by_type[1] == (0.0, 0.0, 0.0, 1, 1, 0)
    assert scores.by_type[None].n_correct == 1
    assert scores.overall.recall == pytest.approx(1 / 3)


FLAT_SCORES = ["flat_precision_score", "flat_recall_score", "flat_f1_score"]


@pytest.mark.parametrize("name", FLAT_SCORES)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@settings(max_examples=20)
@given(pair=paired_sequences(["O", "B-a", "I-a"]))
def test_label_scores_equal_those_of_sklearn_crfsuite(name, average, pair):
    options = {"average": average, "labels": ["B-a", "I-a"], "zero_division": 0}
    assert getattr(metrics, name)(*pair, **options) == getattr(theirs, name)(*pair, **options)


@settings(max_examples=20)
@given(pair=paired_sequences(["O", "B-a", "I-a"]))
def test_accuracy_fbeta_and_report_equal_those_of_sklearn_crfsuite(pair):
    assert metrics.flat_accuracy_score(*pair) == pytest.approx(theirs.flat_accuracy_score(*pair))
    options = {"average": "weighted", "zero_division": 0}
    assert metrics.flat_fbeta_score(*pair, 0.5, **options) == theirs.flat_fbeta_score(*pair, 0.5, **options)
    for labels in (None, ["B-a", "I-a"]):
        assert metrics.flat_classification_report(*pair, labels, zero_division=0) == theirs.flat_classification_report(
            *pair, labels, zero_division=0
        )


@given(paired_sequences(["O", "B-a"]))
def test_sequence_accuracy_equals_that_of_sklearn_crfsuite_on_ragged_sequences(pair):
    y_true, y_pred = pair
    ragged = [["O"] * 10], [["O"] * 11]  # longer than all, so that numpy cannot make a table of them
    expected = theirs.sequence_accuracy_score([*y_true, *ragged[0], *ragged[1]], [*y_pred, *ragged[0], *ragged[1]])
    ours = metrics.sequence_accuracy_score([*y_true, *ragged[0], *ragged[1]], [*y_pred, *ragged[0], *ragged[1]])
    assert ours == pytest.approx(expected)


def test_a_sequence_of_another_length_is_wrong_as_for_sklearn_crfsuite():
    assert theirs.sequence_accuracy_score([[1, 2], [3]], [[3], [1, 2]]) == 0
    assert metrics.sequence_accuracy_score([[1, 2], [3]], [[3], [1, 2]]) == 0
    assert metrics.sequence_accuracy_score([[1, 2], [3]], [[1, 2], [3, 4]]) == 0.5


def test_sequence_accuracy_counts_sequences_also_when_all_have_one_length():
    assert metrics.sequence_accuracy_score([["a", "b"], ["c", "d"]], [["a", "b"], ["c", "e"]]) == 0.5


def test_nothing_scores_nothing():
    assert metrics.sequence_accuracy_score([], []) == 0
    assert metrics.flat_accuracy_score([[]], [[]]) == 0
    assert segment_scores([], []).overall == (0.0, 0.0, 0.0, 0, 0, 0)


def test_generators_and_arrays_are_accepted():
    assert metrics.flat_accuracy_score(iter([iter("ab")]), np.array([["a", "c"]])) == 0.5


@pytest.mark.parametrize("name", FLAT_SCORES)
@pytest.mark.parametrize("labels", [["yes", "no"], ["a", "b", "c"], [2, 3]])
def test_a_score_that_cannot_know_what_to_count_says_what_to_do(name, labels):
    with pytest.raises(ValueError, match=rf"{name}.*average='weighted'.*pos_label"):
        getattr(metrics, name)([labels], [labels])


def test_one_of_two_labels_counts_when_it_is_named_or_is_1():
    assert metrics.flat_f1_score([["yes", "no"]], [["yes", "no"]], pos_label="yes") == 1.0
    assert metrics.flat_f1_score([[1, 0]], [[1, 1]]) == pytest.approx(2 / 3)


def test_sequences_that_do_not_match_are_named():
    with pytest.raises(ValueError, match="Sequence 1 has 1 labels in y_true and 2 in y_pred"):
        metrics.flat_accuracy_score([["a", "b"], ["c"]], [["a"] * 2, ["b", "c"]])
    with pytest.raises(ValueError, match="y_true has 1 sequences and y_pred has 2"):
        segment_scores([["a"]], [["a"], ["a"]])


def test_labels_that_are_not_in_sequences_raise_an_error():
    with pytest.raises(ValueError, match=r"y_true\[0\] is 'B-a'"):
        metrics.flat_accuracy_score(["B-a", "O"], ["B-a", "O"])


def test_scorers_score_an_estimator():
    class AlwaysO(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return [["O"] * len(x) for x in X]

    assert scorers.flat_accuracy(AlwaysO(), ["ab", "c"], [["O", "B"], ["O"]]) == pytest.approx(2 / 3)
    assert scorers.segment_f1(AlwaysO(), ["ab", "c"], [["O", "B"], ["O"]]) == 0.0
    assert scorers.sequence_accuracy(AlwaysO(), ["ab", "c"], [["O", "B"], ["O"]]) == 0.5


def test_counting_segments_does_not_import_scikit_learn():
    code = (
        "import sys; from fastcrf.metrics import *; segment_scores([['a']], [['a']]); "
        "flat_accuracy_score([['a']], [['a']]); sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
