"""Commands that look at models and change their format: info, dump, convert; and tagging as JSON."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.data.encoding.encoder import Encoder
from fastcrf.data.files.conll import read_columns
from fastcrf.decoding.compiled_decoder import infer_corpus, path_scores
from fastcrf.model.model import Model

FIXTURES = Path(__file__).parent.parent / "interchange" / "fixtures"


@pytest.fixture
def theirs(tmp_path):
    """A model that CRFsuite wrote, with names of which one is no UTF-8."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["a", "é"], [b"\xff", "b c"]], ["X", "Ÿ"])
    trainer.append([["a"], ["a"]], ["X", "X"])
    path = tmp_path / "theirs.crfsuite"
    trainer.train(str(path))
    return path


def test_a_dump_is_crfsuites_byte_by_byte(run, theirs, tmp_path):
    tagger = pycrfsuite.Tagger()
    tagger.open(str(theirs))
    tagger.dump(str(tmp_path / "theirs.txt"))
    result = run("dump", theirs, "-o", tmp_path / "ours.txt")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "ours.txt").read_bytes() == (tmp_path / "theirs.txt").read_bytes()
    assert run("dump", theirs).stdout_bytes == (tmp_path / "theirs.txt").read_bytes()


def test_conversion_there_and_back_changes_nothing(run, theirs, tmp_path):
    assert run("convert", theirs, tmp_path / "ours.crf").exit_code == 0
    assert run("convert", tmp_path / "ours.crf", tmp_path / "back.crfsuite").output == ""
    assert (tmp_path / "back.crfsuite").read_bytes() == theirs.read_bytes()


def test_a_model_of_columns_leaves_them_behind_and_says_so(run, model, tmp_path):
    result = run("convert", model, tmp_path / "ours.crfsuite")
    assert result.exit_code == 0
    assert "but not how attributes are made of columns" in result.stderr
    weights = Model.load(tmp_path / "ours.crfsuite").state_features_
    assert weights == {key: weight for key, weight in Model.load(model).state_features_.items() if weight}


@pytest.mark.parametrize("name", ["crfpp", "wapiti"])
def test_models_of_other_toolkits_become_ours_with_their_template(run, name, tmp_path):
    path = tmp_path / "model.crf"
    assert run("convert", FIXTURES / f"{name}-model.txt", path).output == ""
    labels = [line.split("\t")[-1] for line in run("tag", FIXTURES / "columns.txt", "-m", path).stdout.split("\n")]
    rows = [sentence.rows for sentence in read_columns(FIXTURES / "columns.txt")]
    expected = Model.load(FIXTURES / f"{name}-model.txt").predict(rows)
    assert [label for label in labels if label] == list(itertools.chain(*expected))
    result = run("evaluate", FIXTURES / "columns.txt", "-m", FIXTURES / f"{name}-model.txt")
    assert "tokens" in result.stdout


def test_wapiti_models_take_more_columns_than_they_read(run, tmp_path):
    (tmp_path / "wide.txt").write_text("the N x y\nb V x y\n")
    (tmp_path / "narrow.txt").write_text("the\n")
    model = FIXTURES / "wapiti-model.txt"
    assert run("tag", tmp_path / "wide.txt", "-m", model).stdout.startswith("the\tN\tx\ty\t")
    result = run("tag", tmp_path / "narrow.txt", "-m", model)
    assert "narrow.txt:1: found 1 column, but the model needs 2." in result.stderr
    result = run("tag", tmp_path / "wide.txt", "-m", FIXTURES / "crfpp-model.txt")
    assert "found 4 columns, but the model needs 2, or 3 where the last is a label." in result.stderr


def test_items_are_tagged_and_scored_with_a_crfsuite_model(run, theirs, tmp_path):
    (tmp_path / "items.txt").write_text("X\ta\té\nŸ\tb c\n")
    assert run("tag", tmp_path / "items.txt", "-m", theirs, "--items").stdout == "X\nŸ\n"
    assert "accuracy" in run("evaluate", tmp_path / "items.txt", "-m", theirs, "--items").stdout
    result = run("tag", tmp_path / "items.txt", "-m", theirs)
    assert "This model takes items, not columns" in result.stderr


def test_training_may_start_from_a_crfsuite_model_and_save_one(run, theirs, tmp_path):
    (tmp_path / "items.txt").write_text("X\ta\té\nŸ\tb c\n\nX\ta\n")
    options = ("--items", "--init", theirs, "-q", "--n-jobs", 1)
    result = run("train", tmp_path / "items.txt", "-m", tmp_path / "new.crfsuite", *options)
    assert (result.exit_code, result.output) == (0, "")
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "new.crfsuite"))
    assert tagger.tag([["a", "é"], ["b c"]]) == ["X", "Ÿ"]


def test_info_tells_labels_weights_and_how_training_ended(run, model, theirs):
    result = run("info", model, "--top", 2)
    assert "labels       " in result.stdout
    assert "B-NP" in result.stdout
    assert "columns, 2 of them" in result.stdout
    assert "objective" in result.stdout
    summary = json.loads(run("info", model, "--json", "--top", 3).stdout)
    loaded = Model.load(model)
    assert summary["labels"] == loaded.labels
    assert summary["weights"]["states"] + summary["weights"]["transitions"] == len(loaded.weights)
    assert summary["weights"]["largest"] == max(abs(loaded.weights))
    assert len(summary["states"]) == 3
    first, label, weight = summary["states"][0]
    assert abs(weight) == max(map(abs, loaded.state_features_.values()))
    assert loaded.state_features_[first, label] == weight
    assert summary["training"]["stop_reason"]
    assert "training     not recorded in this file" in run("info", theirs).stdout


def test_json_has_spans_with_the_probability_that_they_are_segments(run, model, corpus):
    lines = [json.loads(line) for line in run("tag", corpus, "-m", model, "--json", "--marginals").stdout.splitlines()]
    rows = [sentence.rows for sentence in read_columns(corpus)]
    assert [line["tokens"] for line in lines] == [[row[0] for row in sentence] for sentence in rows]
    assert [line["labels"] for line in lines] == [[row[-1] for row in sentence] for sentence in rows]
    for line in lines:
        for (label, p), row in zip(
            zip(line["labels"], line["probabilities"], strict=True), line["marginals"], strict=True
        ):
            assert row[label] == p
            assert sum(row.values()) == pytest.approx(1.0, abs=1e-5)
        for span in line["spans"]:
            assert span["type"] == "NP"
            assert span["text"].split() == line["tokens"][span["start"] : span["end"]]
            assert line["probability"] - 1e-5 <= span["probability"] <= 1.0
    assert run("tag", corpus, "-m", model, "--json", "--scores").exit_code == 2


def test_the_probability_of_a_span_is_the_sum_over_all_labels_beside_it(model):
    loaded = Model.load(model)
    sequence = column_items([["the", "D"], ["cat", "V"], ["bites", "D"], ["a", "N"]])
    ids = {label: k for k, label in enumerate(loaded.labels)}
    corpus = Encoder(loaded.attributes).encode([sequence])
    log_z = infer_corpus(corpus, loaded.features, loaded.weights)[1][0]
    wanted = ["B-NP", "I-NP"]
    total = 0.0
    for labels in itertools.product(loaded.labels, repeat=4):
        if list(labels[1:3]) == wanted:
            path = np.array([ids[label] for label in labels], np.int32)
            total += math.exp(path_scores(corpus, loaded.features, loaded.weights, path)[0] - log_z)
    ((found,),) = loaded.span_proba([sequence], [["O", *wanted, "O"]], [[(1, 3)]])
    assert found == pytest.approx(total, rel=1e-10)
