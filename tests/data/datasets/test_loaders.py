"""Loaders: where files are looked for, what is checked, and the way from a web server to a sentence."""

from __future__ import annotations

import gzip
import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fastcrf.data.datasets import loaders
from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.datasets.known_sets import KNOWN_SETS, KnownSet, Part, letters_from_stanford
from fastcrf.data.datasets.loaders import get_data_home, load
from fastcrf.exceptions import DataError
from reference.data_folder import corpus_file

TRAIN = b"A DT B\ndog NN I\n\nruns VB O\n\n"
TEST = b"Cats NN B\n\n"


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Nothing: the test's output stays clean."""


@pytest.fixture
def server(tmp_path):
    """(folder that is served, its address); files may be added while it runs."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def toy(server, monkeypatch):
    """A set called toy: its training part is on the server, its test part has no address."""
    folder, address = server
    (folder / "train.txt.gz").write_bytes(gzip.compress(TRAIN))
    parts = {"train": Part("train", sha256(TRAIN), f"{address}/train.txt.gz"), "test": Part("test", sha256(TEST))}
    monkeypatch.setitem(KNOWN_SETS, "toy", KnownSet(parts, "chunking", "Made up for this test."))
    return folder


def put(home, name, text):
    path = home / "toy" / f"{name}.txt.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text))


def test_a_missing_part_is_downloaded_once_and_read(toy, tmp_path):
    corpus = load("toy", data_home=tmp_path / "home")
    assert corpus.data == [[["A", "DT"], ["dog", "NN"]], [["runs", "VB"]]]
    assert corpus.target == [["B", "I"], ["O"]]
    assert (corpus.feature_set, corpus.DESCR) == ("chunking", "Made up for this test.")
    (toy / "train.txt.gz").unlink()
    assert load("toy", data_home=tmp_path / "home").data == corpus.data


def test_items_are_the_attributes_of_the_feature_set(toy, tmp_path):
    X, y = load("toy", data_home=tmp_path, items=True, return_X_y=True)
    assert X[0] == FEATURE_SETS["chunking"]([["A", "DT"], ["dog", "NN"]])
    assert y == [["B", "I"], ["O"]]


def test_the_subset_all_joins_the_parts(toy, tmp_path):
    put(tmp_path, "test", TEST)
    assert load("toy", data_home=tmp_path, subset="all").target == [["B", "I"], ["O"], ["B"]]


def test_another_text_at_the_address_raises_an_error_and_leaves_no_file(toy, tmp_path):
    (toy / "train.txt.gz").write_bytes(gzip.compress(TRAIN + b"x"))
    with pytest.raises(DataError, match="not the text that this loader expects"):
        load("toy", data_home=tmp_path / "home")
    assert not (tmp_path / "home" / "toy" / "train.txt.gz").exists()


def test_a_changed_file_on_disk_raises_an_error(toy, tmp_path):
    put(tmp_path, "train", TRAIN.replace(b"dog", b"cow"))
    with pytest.raises(DataError, match=r"train\.txt\.gz is not the text"):
        load("toy", data_home=tmp_path)


def test_what_the_server_does_not_have_is_one_sentence(toy, tmp_path):
    (toy / "train.txt.gz").unlink()
    with pytest.raises(DataError, match="the server answered 404"):
        load("toy", data_home=tmp_path)


def test_a_truncated_download_is_one_sentence(toy, tmp_path):
    whole = (toy / "train.txt.gz").read_bytes()
    (toy / "train.txt.gz").write_bytes(whole[:-6])
    with pytest.raises(DataError, match="damaged or incomplete"):
        load("toy", data_home=tmp_path)


def test_nobody_answering_is_one_sentence(toy, tmp_path, monkeypatch):
    nowhere = Part("train", sha256(TRAIN), "http://127.0.0.1:9/train.txt.gz")
    monkeypatch.setitem(KNOWN_SETS, "toy", KnownSet({"train": nowhere}, "chunking", ""))
    with pytest.raises(DataError, match=r"Cannot download http://127\.0\.0\.1:9"):
        load("toy", data_home=tmp_path)


def test_a_part_without_address_says_where_to_put_it(toy, tmp_path):
    with pytest.raises(DataError, match=r"put toy/test\.txt\.gz there.*no public address.*Made up"):
        load("toy", data_home=tmp_path, subset="test")


def test_the_download_can_be_forbidden(toy, tmp_path):
    with pytest.raises(DataError, match="allow the download"):
        load("toy", data_home=tmp_path, download_if_missing=False)


def test_the_folder_is_the_argument_or_the_environment_or_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("FASTCRF_DATA", str(tmp_path))
    assert get_data_home() == tmp_path
    assert get_data_home(tmp_path / "other") == tmp_path / "other"
    monkeypatch.delenv("FASTCRF_DATA")
    assert get_data_home().name == "fastcrf_data"


@pytest.mark.parametrize(("name", "subset", "words"), [("mnist", "train", "no set"), ("jnlpba", "dev", "no subset")])
def test_an_unknown_name_is_one_sentence_that_lists_the_known(name, subset, words):
    with pytest.raises(DataError, match=words):
        load(name, subset=subset)


def test_every_set_has_a_loader_and_a_feature_set():
    named = {getattr(loaders, f"load_{name.replace('-', '_')}").args[0] for name in KNOWN_SETS if name != "toy"}
    assert named == set(KNOWN_SETS)
    assert {source.feature_set for source in KNOWN_SETS.values()} <= set(FEATURE_SETS)


def test_letters_are_converted_from_the_original_format():
    pixels = ["0"] * 127 + ["1"]
    original = "\n".join(
        "\t".join([str(k), letter, following, word, "1", fold, *pixels])
        for k, letter, following, word, fold in [
            (1, "o", "2", "7", "0"),
            (2, "n", "-1", "7", "0"),
            (3, "a", "-1", "8", "4"),
        ]
    )
    image = "".join(pixels)
    expected = f"7 o 0 {image}\n7 n 0 {image}\n\n8 a 4 {image}\n\n"
    assert letters_from_stanford(original.encode()).decode() == expected


def test_letters_come_back_from_the_original_format_byte_for_byte():
    """The original can be rebuilt from the columns, apart from its first number, which is not read."""
    text = gzip.decompress(corpus_file("ocr-letters/letters.txt.gz").read_bytes())
    lines = []
    for word in text.decode().removesuffix("\n\n").split("\n\n"):
        rows = [line.split(" ") for line in word.split("\n")]
        for k, (number, letter, fold, image) in enumerate(rows, 1):
            lines.append("\t".join(["0", letter, "-1" if k == len(rows) else "0", number, str(k), fold, *image]))
    assert letters_from_stanford("\n".join(lines).encode()) == text


COUNTS = {  # sequences and tokens
    ("conll2000", "train"): (8936, 211727),
    ("conll2000", "test"): (2012, 47377),
    ("ocr-letters", "all"): (6877, 52152),
    ("conll2002-ned", "testb"): (5195, 68994),
    ("conll2002-esp", "testa"): (1915, 52923),
    ("jnlpba", "test"): (3856, 101039),
    ("treebank-sample", "train"): (3000, 72422),
    ("ud-ewt-xpos", "dev"): (2001, 25147),
    ("brown-base", "test"): (5734, 115685),
    ("gutenberg-seg", "test"): (7227, 566995),
    ("usaddress", "us50-test"): (687, None),
}


@pytest.mark.parametrize(("name", "subset"), COUNTS, ids=" ".join)
def test_the_real_sets_have_their_known_sizes(name, subset):
    part = next(iter(KNOWN_SETS[name].parts.values()))
    home = corpus_file(f"{name}/{part.file}.txt.gz").parents[1]
    corpus = load(name, subset=subset, data_home=home, download_if_missing=False)
    sequences, tokens = COUNTS[name, subset]
    assert len(corpus.data) == sequences
    assert tokens in (None, sum(map(len, corpus.target)))
