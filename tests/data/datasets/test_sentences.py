"""The sentences of the tutorials: reproducible columns in IOB2."""

from __future__ import annotations

from fastcrf.data.datasets.sentences import LEXICON, NAMES, make_sentences
from fastcrf.metrics import segments


def test_the_same_seed_gives_the_same_sentences():
    assert make_sentences(20, 3) == make_sentences(20, 3)
    assert make_sentences(20, 3) != make_sentences(20, 4)


def test_every_token_has_a_tag_a_chunk_and_an_entity():
    for columns in zip(*make_sentences(200), strict=True):
        assert len(set(map(len, columns))) == 1


def test_every_tag_and_kind_of_entity_occurs():
    corpus = make_sentences(2000)
    assert {tag for tags in corpus.tags for tag in tags} == set(LEXICON)
    kinds = {kind for labels in corpus.entities for kind, _, _ in segments(labels)}
    assert kinds == set(NAMES)


def test_a_segment_begins_with_b():
    for column in make_sentences(200)[2:]:
        for labels in column:
            assert all(labels[first].startswith("B-") for _, first, _ in segments(labels))
