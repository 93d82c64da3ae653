"""What a report says about predictions, against scikit-learn and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from fastcrf.markup.token_text import token_of
from fastcrf.report.findings import BINS, Findings, calibrate

LABELS = ["B-X", "I-X", "O"]


def findings(seed=0, n=20):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, n)
    true, predicted = ([[LABELS[k] for k in rng.integers(0, 3, length)] for length in lengths] for _ in range(2))
    chances = [rng.uniform(0.3, 1.0, length).tolist() for length in lengths]
    return Findings([["t"] * length for length in lengths], true, predicted, chances)


def flat(sequences):
    return [each for sequence in sequences for each in sequence]


def test_the_scores_of_labels_are_those_of_sklearn():
    found = findings()
    true, predicted = flat(found.true), flat(found.predicted)
    expected = precision_recall_fscore_support(true, predicted, labels=LABELS)
    ours = {score.label: score for score in found.label_scores()}
    for k, label in enumerate(LABELS):
        assert ours[label][1:] == pytest.approx([column[k] for column in expected])


def test_confusions_are_those_of_sklearn():
    found = findings(1)
    expected = confusion_matrix(flat(found.true), flat(found.predicted), labels=LABELS)
    pairs = found.confusions()
    assert [[pairs[truth, guess] for guess in LABELS] for truth in LABELS] == expected.tolist()


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1))
def test_bins_hold_every_token_once(pairs):
    chances, right = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    measured = calibrate(chances, right)
    assert measured.counts.sum() == len(pairs)
    bins = [[p for p in pairs if min(int(p[0] * BINS), BINS - 1) == k] for k in range(BINS)]
    used = [own for own in bins if own]
    assert measured.accuracy == pytest.approx([np.mean([is_right for _, is_right in own]) for own in used])
    assert measured.confidence == pytest.approx([np.mean([chance for chance, _ in own]) for own in used])
    expected = sum(abs(sum(chance - is_right for chance, is_right in own)) for own in used) / len(pairs)
    assert measured.error == pytest.approx(expected)


def test_mistakes_begin_with_the_most_probable_wrong_label():
    found = Findings([["a"], ["b"], ["c"]], [["O"]] * 3, [["X"], ["O"], ["X"]], [[0.6], [0.99], [0.9]])
    assert [(mistake.number, mistake.surest) for mistake in found.mistakes(5)] == [(3, 0.9), (1, 0.6)]
    assert len(found.mistakes(1)) == 1


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("Paris", "Paris"),
        ({"bias": 1.0, "word": "Paris"}, "Paris"),
        ({"digit": True}, "digit"),
        (["bias", "0[-1]=in", "0[0]=a=b"], "a=b"),
        (["Paris", "NNP"], "Paris"),
        ([], ""),
        ({}, ""),
    ],
)
def test_the_token_of_an_item_is_found(item, expected):
    assert token_of(item) == expected
