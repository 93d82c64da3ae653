"""The counts by ids of labels are those of `fastcrf.metrics`."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.core.types import Corpus
from fastcrf.decoding.held_out_counts import Counts, count, read_marks
from fastcrf.metrics import flat_accuracy_score, segment_scores

SCHEMES = [
    ["B-A", "I-A", "O", "B-C", "I-C"],
    ["S-A", "B-A", "E-A", "I-A", "O", "U-C", "L-C"],
    ["B", "I", "O"],
    ["NOUN", "VERB", "O"],
]


def corpus_of(sequences, labels):
    lengths = [len(sequence) for sequence in sequences]
    ids = np.array([labels.index(label) for label in chain(*sequences)], np.int32)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    nothing = np.empty(0)
    return Corpus(starts, np.zeros(len(ids) + 1, np.int64), np.empty(0, np.int32), nothing, ids, nothing)


@given(st.data())
def test_tokens_and_segments_are_counted_as_the_metrics_count_them(data):
    labels = data.draw(st.sampled_from(SCHEMES))
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    gold, found = (
        [data.draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n)) for n in lengths] for _ in range(2)
    )
    corpus, expected = corpus_of(gold, labels), segment_scores(gold, found).overall
    counts = count(corpus, corpus_of(found, labels).labels, read_marks(labels))
    if not {"B"} <= set(labels) or "B" in {*chain(*gold, *found)}:  # the metrics read the scheme from what is there
        assert counts[2:] == (expected.n_true, expected.n_predicted, expected.n_correct)
        assert counts.scores()["segment_f1"] == pytest.approx(expected.f1)
    assert counts.scores()["accuracy"] == flat_accuracy_score(gold, found)


def test_a_run_of_labels_that_the_model_does_not_know_is_one_segment():
    corpus = corpus_of([["O", "B-A", "I-A"], ["I-A"]], ["B-A", "I-A", "O"])
    marks = read_marks(["B-A", "I-A", "O"])
    unknown = corpus._replace(labels=np.array([2, -1, -1, 1], np.int32))
    assert count(unknown, corpus.labels, marks) == Counts(4, 2, 2, 2, 1)


def test_without_tokens_there_is_no_accuracy():
    scores = Counts(0, 0, 0, 0, 0).scores()
    assert math.isnan(scores["accuracy"])
    assert scores["segment_f1"] == 0.0
