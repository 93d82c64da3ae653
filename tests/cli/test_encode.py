"""`fastcrf encode`: the model that is trained on an encoded corpus is the one that the files give."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import fastcrf

TEMPLATE = "U00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\nB\n"


@pytest.mark.parametrize("options", [[], ["--template"]], ids=["columns", "template"])
def test_training_on_an_encoded_corpus_gives_the_same_model(run, corpus, tmp_path, options):
    (tmp_path / "template").write_text(TEMPLATE)
    options = [*options, tmp_path / "template"] if options else []
    zipped = tmp_path / "more.txt.gz"
    zipped.write_bytes(gzip.compress((corpus.parent / "dev.txt").read_bytes()))
    files, encoded = [corpus, zipped], tmp_path / "corpus.fcc"
    result = run("encode", *files, "-o", encoded, *options)
    assert result.exit_code == 0, result.output
    assert "50 sequences" in result.stdout
    limits = ["--n-jobs", 1, "--max-iterations", 5, "--dev", corpus.parent / "dev.txt", "--json"]
    outcomes, models = [], []
    for name, data in (("one", [*files, *options]), ("two", [encoded])):
        result = run("train", *data, "-m", tmp_path / name, *limits)
        assert result.exit_code == 0, result.output
        outcomes.append(json.loads(result.stdout))
        models.append(fastcrf.load(tmp_path / name))
    for outcome in outcomes:
        del outcome["seconds"], outcome["model"]
    assert outcomes[0] == outcomes[1]
    np.testing.assert_array_equal(models[0].weights, models[1].weights)
    assert models[0].input == models[1].input
    tagged = [run("tag", corpus.parent / "dev.txt", "-m", tmp_path / name).stdout for name in ("one", "two")]
    assert tagged[0] == tagged[1] != ""


def test_standard_input_and_items_are_encoded(run, tmp_path):
    items = "A\ta:1\tb\n\n@weight:2.5\nB\ta:0.5\n"
    assert run("encode", "-", "--items", "-o", tmp_path / "c", "-q", input=items).output == ""
    corpus = fastcrf.open_corpus(tmp_path / "c").corpus
    assert (corpus.values.tolist(), corpus.weights.tolist()) == ([1.0, 1.0, 0.5], [1.0, 2.5])
    assert run("train", tmp_path / "c", "-m", tmp_path / "m", "-q", "--n-jobs", 1).exit_code == 0
    assert fastcrf.load(tmp_path / "m").input == {"kind": "items"}


def test_invalid_combinations_raise_an_error_before_anything_is_read(run, corpus, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    assert "is not a file of fastcrf" in run("encode", corpus, "-o", tmp_path / "mine.txt").stderr
    assert "is training file 1 and cannot be the encoded corpus as well" in run("encode", corpus, "-o", corpus).stderr
    encoded = tmp_path / "c"
    assert run("encode", corpus, "-o", encoded, "-q").exit_code == 0
    assert run("encode", corpus, "-o", encoded, "-q").exit_code == 0
    assert "this is an encoded corpus, not a model; fastcrf train" in run("tag", corpus, "-m", encoded).stderr
    model = ["-m", tmp_path / "m"]
    assert "is an encoded corpus; encode all files into one" in run("train", encoded, corpus, *model).stderr
    assert "was settled when the corpus was encoded" in run("train", encoded, *model, "--items").stderr
    encoded.write_bytes(encoded.read_bytes()[:-3])
    assert "Cannot use" in run("train", encoded, *model).stderr
