"""The cut-off of rare attributes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.corpus.rare_attributes import without_rare
from fastcrf.data.encoding.encoder import encode_training
from reference.raw_corpora import labeled_corpora


@given(labeled_corpora(), st.integers(1, 4))
def test_attributes_that_occur_often_enough_stay_with_their_values(data, min_count):
    corpus, attributes, _ = encode_training(*data)
    names = attributes.names()
    kept, used = without_rare(corpus, len(attributes), min_count)
    kept_names = attributes.kept(used).names()
    counts = Counter(names[a] for a in corpus.attributes)
    assert kept_names == [name for name in names if counts[name] >= min_count]
    for p in range(corpus.n_positions):
        before = [(names[a], v) for a, v in pairs_at(corpus, p) if counts[names[a]] >= min_count]
        assert [(kept_names[a], v) for a, v in pairs_at(kept, p)] == before
    assert [array.dtype for array in kept] == [array.dtype for array in corpus]


def pairs_at(corpus, p):
    where = slice(corpus.offsets[p], corpus.offsets[p + 1])
    values = corpus.values[where].tolist() if len(corpus.values) else [1.0] * len(corpus.attributes[where])
    return list(zip(corpus.attributes[where].tolist(), values, strict=True))
