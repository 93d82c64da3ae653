"""Encoded corpora: what is written is what encoding in memory gives, whatever the pieces; nothing is half written."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import open_corpus
from fastcrf.data.corpus_file import container, writing
from fastcrf.data.corpus_file.writing import Part, write_corpus
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import parse_template
from fastcrf.exceptions import DataError
from fastcrf.system import mapped_arrays as mapped
from reference.raw_corpora import labeled_corpora

X = [[["a", "b"], ["b"]], [["c"]], [["a"], {"b": 0.5}, ["c"]]]
Y = [["P", "Q"], ["Q"], ["P", "P", "R"]]


def assert_equal(found, expected):
    for name, one, other in zip(expected._fields, found, expected, strict=True):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, name)


@settings(max_examples=40)
@given(labeled_corpora(), st.integers(1, 4), st.integers(1, 3))
def test_a_file_holds_what_encoding_in_memory_gives(tmp_path_factory, data, piece, n_parts):
    X, y = data
    if not any(len(sequence) for sequence in X):
        return
    path = tmp_path_factory.mktemp("corpus") / "c.fcc"
    expected, attributes, labels = encode_training(X, y)
    before, writing.PIECE = writing.PIECE, piece
    try:
        written = write_corpus(path, [(X[i::n_parts], y[i::n_parts]) for i in range(n_parts)])
        write_corpus(path, [(X[:1], y[:1]), (X[1:], y[1:])])
    finally:
        writing.PIECE = before
    found = open_corpus(path)
    assert written.positions == expected.n_positions == len(found.corpus.labels)
    assert found.labels == labels
    assert found.attributes.names() == attributes.names()
    assert_equal(found.corpus, expected)


def test_weights_and_values_that_come_late_are_filled_up_with_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "PIECE", 1)
    write_corpus(tmp_path / "c", [Part(X[:1], Y[:1]), Part(X[1:], Y[1:], [1.0, 2.5])])
    found = open_corpus(tmp_path / "c")
    assert_equal(found.corpus, encode_training(X, Y, [1.0, 1.0, 2.5])[0])
    assert found.corpus.values.tolist() == [1, 1, 1, 1, 1, 0.5, 1]
    assert len(found) == 3


def test_a_template_is_part_of_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "PIECE", 2)
    rows = [[["the", "DT"], ["cat", "NN"]], [["a", "DT"]], [["cat", "NN"], ["sat", "VB"], ["the", "DT"]]]
    template = parse_template("U00:%x[-1,0]\nU01:%x[0,0]/%x[1,1]\n", "crfpp")
    expected, attributes, _ = encode_training(rows, Y, known=TemplateAttributes.empty(template))
    write_corpus(tmp_path / "c", [(rows, Y)], TemplateAttributes.empty(template), template.transitions)
    found = open_corpus(tmp_path / "c")
    assert_equal(found.corpus, expected)
    assert found.attributes.names() == attributes.names()
    assert found.transitions is template.transitions is False


def test_the_arrays_are_mapped_and_writing_to_them_leaves_the_file_alone(tmp_path):
    write_corpus(tmp_path / "c", [(X, Y)])
    content = (tmp_path / "c").read_bytes()
    corpus = open_corpus(tmp_path / "c").corpus
    assert mapped.folder_of(corpus.attributes[1:3]) == tmp_path.resolve()
    corpus.attributes[0] = 77
    assert (tmp_path / "c").read_bytes() == content


def test_what_is_made_of_a_mapped_array_is_mapped_in_the_same_folder_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "SMALL", 0)
    (tmp_path / "f").write_bytes(bytes(range(16)))
    home = mapped.map_file(tmp_path / "f").view(np.int32)
    made = mapped.empty_beside(home, 100, np.float64)
    made[:] = 1.5
    assert mapped.folder_of(made) == tmp_path.resolve()
    assert made.flags.writeable
    assert os.listdir(tmp_path) == ["f"]
    assert mapped.folder_of(mapped.empty_beside(np.zeros(3), 100, np.float64)) is None
    assert len(mapped.empty_beside(home, 0, np.int64)) == 0


def test_a_disk_that_is_full_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "SMALL", 0)
    (tmp_path / "f").write_bytes(b"12345678")
    home = mapped.map_file(tmp_path / "f")
    with pytest.raises(OSError, match=r"scratch space of [\d,.]+ GB for a memory-mapped corpus"):
        mapped.empty_beside(home, 1 << 58, np.uint8)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
def test_a_disk_that_is_full_while_encoding_is_reported_with_its_folder(tmp_path):
    spool = container.Spool(tmp_path, np.int32)
    spool.close()
    with open("/dev/full", "r+b", buffering=0) as spool.file, pytest.raises(OSError, match=f"space left.*{tmp_path}"):
        spool.append(np.zeros(3))


def test_an_error_while_encoding_leaves_the_old_file_and_no_other(tmp_path):
    write_corpus(tmp_path / "c", [(X, Y)])
    content = (tmp_path / "c").read_bytes()
    with pytest.raises(DataError, match=r"X\[1\] has 1 items and y\[1\] has 2 labels"):
        write_corpus(tmp_path / "c", [(X, [Y[0], ["P", "Q"], Y[2]])])
    with pytest.raises(DataError, match="nothing to encode"):
        write_corpus(tmp_path / "c", [([], [])])
    assert (tmp_path / "c").read_bytes() == content
    assert os.listdir(tmp_path) == ["c"]
