"""JSON lines on the command line: train, tag, evaluate, encode; the fields that a model remembers."""

from __future__ import annotations

import gzip
import json

import pytest

from fastcrf.data.files.conll import read_columns
from fastcrf.model.model import Model


@pytest.fixture(scope="module")
def lines(corpus, tmp_path_factory):
    """The corpus as JSON lines: words, kinds and tags."""
    path = tmp_path_factory.mktemp("json") / "train.jsonl"
    objects = [
        dict(zip(("words", "kinds", "tags"), map(list, zip(*sentence.rows, strict=True)), strict=True))
        for sentence in read_columns(corpus)
    ]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    return path


FIELDS = ("--fields", "words,kinds,tags")


def test_a_model_of_json_lines_is_that_of_the_same_columns(run, lines, model, tmp_path):
    result = run("train", lines, "-m", tmp_path / "json.crf", "-q", "--n-jobs", "1", *FIELDS)
    assert (result.exit_code, result.output) == (0, "")
    assert Model.load(tmp_path / "json.crf").state_features_ == Model.load(model).state_features_


@pytest.fixture(scope="module")
def trained(lines, tmp_path_factory):
    from typer.testing import CliRunner

    from fastcrf.cli.main import app

    path = tmp_path_factory.mktemp("json") / "json.crf"
    words = ["train", lines, "-m", path, "-q", "--n-jobs", "1", *FIELDS]
    assert CliRunner().invoke(app, [str(word) for word in words]).exit_code == 0
    return path


def test_json_lines_are_tagged_as_json_with_a_line_for_each_line(run, trained, corpus, lines, tmp_path):
    new = tmp_path / "new.jsonl.gz"
    objects = [json.loads(line) for line in lines.read_text().splitlines()]
    text = "".join(json.dumps({"words": each["words"], "kinds": each["kinds"]}) + "\n" for each in objects)
    new.write_bytes(gzip.compress((text + '{"words": [], "kinds": []}\n').encode()))
    result = run("tag", new, "-m", trained)
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    columns = [json.loads(line) for line in run("tag", corpus, "-m", trained, "--json").stdout.splitlines()]
    assert [each["labels"] for each in found[:-1]] == [each["labels"] for each in columns]
    assert [each["tokens"] for each in found[:-1]] == [each["words"] for each in objects]
    assert (found[-1]["labels"], found[-1]["line"]) == ([], len(objects) + 1)


def test_what_was_tagged_can_be_trained_on(run, trained, lines, tmp_path):
    assert run("tag", lines, "-m", trained, "-o", tmp_path / "tagged.jsonl").exit_code == 0
    assert run("train", tmp_path / "tagged.jsonl", "-m", tmp_path / "again.crf", "-q", "--n-jobs", "1").exit_code == 0


def test_json_lines_are_evaluated_and_encoded(run, trained, lines, tmp_path):
    assert "accuracy" in run("evaluate", lines, "-m", trained).output
    assert run("encode", lines, "-o", tmp_path / "corpus.fcc", "-q", *FIELDS).exit_code == 0
    assert run("train", tmp_path / "corpus.fcc", "-m", tmp_path / "m.crf", "-q", "--n-jobs", "1").exit_code == 0
    assert Model.load(tmp_path / "m.crf").input["fields"] == ["words", "kinds", "tags"]
    result = run("train", tmp_path / "corpus.fcc", "-m", tmp_path / "m.crf", "-q", *FIELDS)
    assert (result.exit_code, "--fields was settled" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"words": ["a"], "kinds": ["D"]\n', "new.jsonl:1: the line is not JSON"),
        ('{"words": ["a"], "kinds": ["D", "N"], "tags": ["O"]}\n', "'words' has 1 entries and 'kinds' has 2"),
        ('{"tokens": ["a"]}\n', "new.jsonl:1: there is no field 'words'"),
    ],
)
def test_a_broken_line_is_one_error_and_writes_nothing(run, trained, tmp_path, text, message):
    (tmp_path / "new.jsonl").write_text(text)
    result = run("tag", tmp_path / "new.jsonl", "-m", trained, "-o", tmp_path / "out.jsonl")
    assert (result.exit_code, message in result.stderr) == (1, True), result.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_model_of_columns_says_which_fields_it_does_not_know(run, model, tmp_path):
    (tmp_path / "new.jsonl").write_text('{"tokens": ["a"]}\n')
    result = run("tag", tmp_path / "new.jsonl", "-m", model)
    assert "trained on 2 columns, and of JSON lines it knows the field 'tokens' alone" in result.stderr


def test_wrong_options_are_named(run, trained, lines, tmp_path):
    assert "must name the tokens and the labels" in run("train", lines, "-m", "m.crf", "--fields", "words").stderr
    assert "--items means item files" in run("train", lines, "-m", "m.crf", "--items", *FIELDS).stderr
    assert "--spans prints lines of column files" in run("tag", lines, "-m", trained, "--spans").stderr
