"""The attributes of the literature's tasks, written out for small sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.datasets.feature_sets import FEATURE_SETS, characters, chunking, ner, ner_with_pos, pixels, pos

words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6)
sentences = st.lists(st.tuples(words, words), max_size=6)


def test_chunking_has_crfsuites_nineteen_templates_in_the_middle_of_a_sentence():
    rows = [(f"w{t}", f"t{t}") for t in range(5)]
    assert chunking(rows)[2] == [
        "w[-2]=w0", "w[-1]=w1", "w[0]=w2", "w[1]=w3", "w[2]=w4", "w[-1]|w[0]=w1|w2", "w[0]|w[1]=w2|w3",
        "pos[-2]=t0", "pos[-1]=t1", "pos[0]=t2", "pos[1]=t3", "pos[2]=t4",
        "pos[-2]|pos[-1]=t0|t1", "pos[-1]|pos[0]=t1|t2", "pos[0]|pos[1]=t2|t3", "pos[1]|pos[2]=t3|t4",
        "pos[-2]|pos[-1]|pos[0]=t0|t1|t2", "pos[-1]|pos[0]|pos[1]=t1|t2|t3", "pos[0]|pos[1]|pos[2]=t2|t3|t4",
    ]  # fmt: skip


def test_ner_has_words_shapes_and_affixes_of_the_word_and_its_neighbors():
    here = set(ner([("In", "IN"), ("Bk-12", "NN"), ("today", "NN")])[1])
    assert {"w[-1]=In", "w[0]=Bk-12", "low[0]=bk-12", "shape[0]=Xx-dd", "shape[1]=x", "w[-1]|w[0]=In|Bk-12"} <= here
    assert {"pre1[0]=B", "suf4[0]=k-12", "suf3[-1]=In", "suf3[1]=day", "pre3[-1]=In", "pre3[1]=tod"} <= here
    assert not {name for name in here if "IN" in name}, "the part-of-speech column is not used"


def test_ner_with_parts_of_speech_adds_them_and_their_pairs():
    rows = [("In", "IN"), ("Bk-12", "NN"), ("today", "RB")]
    added = [set(more) - set(less) for more, less in zip(ner_with_pos(rows), ner(rows), strict=True)]
    assert added[1] == {"pos[-1]=IN", "pos[0]=NN", "pos[1]=RB", "pos[-1]|pos[0]=IN|NN", "pos[0]|pos[1]=NN|RB"}


def test_pos_has_n_grams_affixes_and_the_shape():
    here = set(pos([("The",), ("ends",)])[1])
    assert {
        "w[0]=ends",
        "low[0]=ends",
        "shape[0]=x",
        "suf1[0]=s",
        "pre4[0]=ends",
        "w[-1]|w[0]=The|ends",
        "__EOS__",
    } <= here


def test_characters_have_pairs_and_the_triple_around():
    here = characters([("a",), ("b",), ("c",)])[1]
    assert set(here) == {"c[-1]=a", "c[0]=b", "c[1]=c", "c[-1]|c[0]=a|b", "c[0]|c[1]=b|c", "c[-1]|c[0]|c[1]=a|b|c"}


def test_pixels_are_those_that_are_set():
    assert pixels([("0101",), ("1000",)]) == [["bias", "p1", "p3", "__BOS__"], ["bias", "p0", "__EOS__"]]


@pytest.mark.parametrize("name", FEATURE_SETS)
@given(rows=sentences)
def test_every_set_marks_the_ends_and_has_a_list_for_each_position(name, rows):
    items = FEATURE_SETS[name](rows)
    assert len(items) == len(rows)
    assert ["__BOS__" in item for item in items] == [t == 0 for t in range(len(rows))]
    assert ["__EOS__" in item for item in items] == [t == len(rows) - 1 for t in range(len(rows))]
