"""Encoded corpora from strangers: every number that a kernel uses as an index is looked at."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fastcrf import open_corpus
from fastcrf.data.corpus_file import container
from fastcrf.data.corpus_file.container import CorpusFileError
from fastcrf.data.corpus_file.writing import write_corpus
from fuzz.corpora import forge

X, Y = [[["a", "b"], ["b"]], [["c"]]], [["P", "Q"], ["Q"]]


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Arrays and header of a corpus file."""
    path = tmp_path_factory.mktemp("corpus") / "c.fcc"
    write_corpus(path, [(X, Y)])
    arrays, header = container.read(path)
    return {name: array.copy() for name, array in arrays.items()}, header


def forged(folder, arrays, header):
    """A file with a checksum that is right, whatever it holds."""
    return forge(folder / "forged", arrays, header)


@pytest.mark.parametrize(
    ("name", "numbers", "fault"),
    [
        ("starts", [0, 2, 4], "sequences that overlap"),
        ("starts", [0, 3], None),
        ("starts", [0, 0, 3], "sequences that overlap"),
        ("starts", [0, -(2**63), 3], "sequences that overlap"),
        ("starts", [3], "sequences that overlap"),
        ("starts", [], "sequences that overlap"),
        ("offsets", [0, 2, 3, 5], "items that overlap"),
        ("offsets", [0, 3, 2, 4], "items that overlap"),
        ("offsets", [0, 2, 4], "items that overlap"),
        ("attributes", [0, 1, 1, 3], "an attribute out of range"),
        ("attributes", [0, 1, 1, -1], "an attribute out of range"),
        ("labels", [0, 1, 2], "a label out of range"),
        ("labels", [-1, 1, 1], "a label out of range"),
        ("values", [1.0, 2.0], "values that do not fit"),
        ("values", [1.0, 2.0, np.nan, 1.0], "a value that is not finite"),
        ("values", [1.0, 2.0, np.inf, 1.0], "a value that is not finite"),
        ("weights", [1.0, -1.0], "a weight that is negative"),
        ("weights", [0.0, 0.0], "no weight above zero"),
        ("weights", [1.0], "weights that do not fit"),
    ],
)
def test_numbers_out_of_range_raise_an_error(content, tmp_path, name, numbers, fault):
    arrays, header = content
    path = forged(tmp_path, {**arrays, name: np.array(numbers, arrays[name].dtype)}, header)
    if fault is None:
        assert len(open_corpus(path)) == 1
        return
    with pytest.raises(CorpusFileError, match=f"Cannot use .*forged: the corpus is damaged: it has {fault}") as refusal:
        open_corpus(path)
    assert "model" not in str(refusal.value)


@pytest.mark.parametrize("missing", ["starts", "labels", "weights", "attribute_names"])
def test_arrays_that_are_missing_or_of_another_type_raise_an_error(content, tmp_path, missing):
    arrays, header = content
    with pytest.raises(CorpusFileError, match=f"no array '{missing}'"):
        open_corpus(forged(tmp_path, {name: a for name, a in arrays.items() if name != missing}, header))
    other = np.zeros(3, np.uint8 if missing != "attribute_names" else np.int64)
    with pytest.raises(CorpusFileError, match=f"no array '{missing}'"):
        open_corpus(forged(tmp_path, {**arrays, missing: other}, header))


@pytest.mark.parametrize(
    "change", [{"labels": []}, {"labels": None}, {"input": 3}, {"input": {}}, {"transitions": 1}, {"attributes": {}}]
)
def test_a_header_that_does_not_fit_raises_an_error(content, tmp_path, change):
    arrays, header = content
    with pytest.raises(CorpusFileError, match="the corpus is damaged"):
        open_corpus(forged(tmp_path, arrays, header | change))


def test_damage_and_other_files_are_one_sentence(content, tmp_path):
    good = forged(tmp_path, *content).read_bytes()
    path = tmp_path / "bad"
    faults = {
        good[:-1]: "truncated",
        good[:-1] + b"\x07": "does not match its checksum",
        b"": "not an encoded corpus",
        b"the DT B\n" * 50: "not an encoded corpus",
        good.replace(b'"version":"1"', b'"version":"9"'): "format '9'",
        good.replace(b"fastcrf-corpus", b"fastcrf-corpsE"): "not an encoded corpus of fastcrf",
    }
    for damaged, fault in faults.items():
        path.write_bytes(damaged)
        with pytest.raises(CorpusFileError, match=fault):
            open_corpus(path)


def test_arrays_that_are_not_aligned_raise_an_error(content, tmp_path):
    data = forged(tmp_path, *content).read_bytes()
    size = int.from_bytes(data[:8], "little")
    layout = json.dumps(json.loads(data[8 : 8 + size])).encode()
    layout += b" " * (3 - len(layout) % 8)
    path = tmp_path / "odd"
    path.write_bytes(len(layout).to_bytes(8, "little") + layout + data[8 + size :])
    with pytest.raises(CorpusFileError, match=r"at byte \d+, which no corpus has"):
        open_corpus(path)
