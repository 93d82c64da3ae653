"""Annotations by characters: doccano, brat and spaCy, offsets to BIO and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import readers
from fastcrf.data.sources.offsets import Span, bio_of, places_of, spans_of
from fastcrf.exceptions import DataError

TEXT = "Ann lives in New York."
TOKENS = ["Ann", "lives", "in", "New", "York", "."]
BIO = ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["O", "B-X", "B-Y"]), max_size=8), st.data())
def test_spans_and_labels_are_each_others_inverse(begins, data):
    labels: list[str] = []
    for mark in begins:
        labels += [mark] + ([f"I{mark[1:]}"] * data.draw(st.integers(0, 2)) if mark != "O" else [])
    places = [(2 * t, 2 * t + 1) for t in range(len(labels))]
    spans = [Span(places[start][0], places[end - 1][1], kind) for start, end, kind in spans_of(labels)]
    assert bio_of(spans, places, "x") == labels


def test_places_are_words_and_signs():
    assert [TEXT[start:end] for start, end in places_of(TEXT)] == TOKENS


def doccano_line(**fields):
    return json.dumps({"id": 1, "text": TEXT, **fields}) + "\n"


@pytest.mark.parametrize(
    "fields",
    [
        {"label": [[0, 3, "PER"], [13, 21, "LOC"]]},
        {
            "entities": [
                {"id": 1, "start_offset": 13, "end_offset": 21, "label": "LOC"},
                {"id": 0, "start_offset": 0, "end_offset": 3, "label": "PER"},
            ],
            "relations": [],
        },
    ],
)
def test_both_exports_of_doccano_become_bio(tmp_path, fields):
    (tmp_path / "data.jsonl").write_text(doccano_line(**fields))
    [sentence] = readers.doccano(tmp_path / "data.jsonl")
    assert ([row[0] for row in sentence.rows], sentence.labels) == (TOKENS, BIO)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"label": [[0, 99, "PER"]]}, r"data\.jsonl:1: the span \[0, 99, 'PER'\] is not within the text of 22"),
        ({"label": [[3, 4, "PER"]]}, "the span PER at 3-4 contains no token"),
        ({"label": [[0, 9, "PER"], [4, 9, "LOC"]]}, "shares a token with another"),
        ({"label": ["PER"]}, "'PER' is no span"),
        ({"text": None}, "there is no text"),
    ],
)
def test_faults_of_doccano_are_named(tmp_path, fields, message):
    (tmp_path / "data.jsonl").write_text(doccano_line(**fields))
    with pytest.raises(DataError, match=message):
        readers.doccano(tmp_path / "data.jsonl").load()


ANN = """T1\tPER 0 3\tAnn
R1\tLives Arg1:T1 Arg2:T2
T2\tLOC 13 21\tNew York
#1\tAnnotatorNotes T1\tsure
T3\tLOC 23 28\tParis
"""


def test_brat_has_a_sentence_per_line_of_the_text(tmp_path):
    (tmp_path / "a.txt").write_text(f"{TEXT}\nParis\n")
    (tmp_path / "a.ann").write_text(ANN)
    X, y = readers.brat(tmp_path / "a.txt").load()
    assert [[row[0] for row in rows] for rows in X] == [TOKENS, ["Paris"]]
    assert y == [BIO, ["B-LOC"]]
    assert readers.brat(tmp_path).load() == (X, y)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("T1\tLOC 0 3;8 9\tx\n", r"a\.ann:1: this is no continuous entity"),
        ("T1\tLOC 13 24\tNew York. P\n", r"a\.ann:1: the entity ends behind line 1"),
        ("T1\tLOC 99 104\tParis\n", r"a\.ann:1: the entity at 99-104 is in no line"),
        ("T1 LOC\n", r"a\.ann:1: this is no continuous entity"),
    ],
)
def test_faults_of_brat_are_named_with_file_and_line(tmp_path, annotation, message):
    (tmp_path / "a.txt").write_text(f"{TEXT}\nParis\n")
    (tmp_path / "a.ann").write_text(annotation)
    with pytest.raises(DataError, match=message):
        readers.brat(tmp_path / "a.txt").load()


def test_brat_without_texts_or_annotations_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"has no \.txt files"):
        readers.brat(tmp_path)
    (tmp_path / "a.txt").write_text(TEXT)
    with pytest.raises(DataError, match=r"Cannot read .*a\.ann"):
        readers.brat(tmp_path / "a.txt").load()


def test_documents_of_spacy_come_in_and_go_out(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PER", "pattern": "Ann"}, {"label": "LOC", "pattern": "New York"}])
    docs = [nlp(f"{TEXT}  Ann left."), nlp(TEXT)]
    DocBin(docs=docs).to_disk(tmp_path / "docs.spacy")
    X, y = readers.spacy_docs(tmp_path / "docs.spacy").load()
    assert ([row[0] for row in X[1]], y[1]) == (TOKENS, BIO)
    assert y[0] == [*BIO, "B-PER", "O", "O"]
    assert len(readers.spacy_docs(docs, by_sentence=True).load()[0]) == 3
    readers.to_docs(X, y, tmp_path / "back.spacy")
    assert readers.spacy_docs(tmp_path / "back.spacy").load() == (X, y)
    back = list(DocBin().from_disk(tmp_path / "back.spacy").get_docs(nlp.vocab))
    assert [[(ent.text, ent.label_) for ent in doc.ents] for doc in back] == [
        [(ent.text, ent.label_) for ent in doc.ents] for doc in docs
    ]


def test_faults_of_spacy_files_are_named(tmp_path):
    spacy = pytest.importorskip("spacy")
    (tmp_path / "docs.spacy").write_bytes(b"none")
    with pytest.raises(DataError, match=r"docs\.spacy is no DocBin file"):
        readers.spacy_docs(tmp_path / "docs.spacy")
    with pytest.raises(DataError, match=r"Cannot read .*absent\.spacy"):
        readers.spacy_docs(tmp_path / "absent.spacy")
    with pytest.raises(DataError, match="document 0: no sentences are marked"):
        readers.spacy_docs([spacy.blank("en")(TEXT)], by_sentence=True).load()
    with pytest.raises(DataError, match=r"X\[0\] has 1 tokens and y\[0\] has 2"):
        readers.to_docs([["a"]], [["O", "O"]])
