"""What is done a part of the corpus at a time gives what it gives at once."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.core.types import Corpus
from fastcrf.data.corpus import reordering
from fastcrf.data.corpus.occurrences import with_attributes
from fastcrf.feature_space.feature_map import build_feature_map
from reference.random_corpora import random_corpus

CORPUS = random_corpus(5, lengths=(3, 1, 4, 2, 5, 1), values=True, weights=True)


def equal(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def in_slices(monkeypatch):
    """A function in slices of a few occurrences."""
    whole = Corpus.slices

    def run(function, *args):
        with monkeypatch.context() as patch:
            patch.setattr(Corpus, "slices", lambda corpus: whole(corpus, 4))
            assert len(list(CORPUS.slices())) > 3
            return function(*args)

    return run


def test_attributes_are_renumbered(in_slices):
    kept = np.array([True, False, True, True, False, True])
    args = CORPUS, kept, np.arange(6)[::-1].copy()
    equal(in_slices(with_attributes, *args), with_attributes(*args))


def test_features_are_counted(in_slices):
    equal(in_slices(build_feature_map, CORPUS, 6, 3), build_feature_map(CORPUS, 6, 3))


def test_sequences_are_reordered(monkeypatch):
    order = np.array([4, 0, 5, 2, 2, 1, 3])
    at_once = reordering.reorder(CORPUS, order)
    monkeypatch.setattr(reordering, "AT_ONCE", 2)
    equal(reordering.reorder(CORPUS, order), at_once)
    for i, source in enumerate(order.tolist()):
        equal(at_once.slice_of(i, i + 1), CORPUS.slice_of(source, source + 1))
