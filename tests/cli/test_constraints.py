"""Constraints, given labels, spans and other ways to decode, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastcrf import Constraints, load

TRAIN = "Ada B-PER\nLovelace I-PER\nwrote O\n\nShe O\nmet O\nBabbage B-PER\n\nAda B-PER\n\n" * 4
NEW = "Ada\nLovelace\nwrote\n\nBabbage\nmet\nAda\n"


@pytest.fixture
def files(run, tmp_path):
    (tmp_path / "train.txt").write_text(TRAIN)
    (tmp_path / "new.txt").write_text(NEW)
    arguments = ("train", tmp_path / "train.txt", "-m", tmp_path / "m.crf", "--constraints", "auto", "--quiet")
    assert run(*arguments, "--c2", "0.1").exit_code == 0
    return tmp_path


def tagged(run, files, *options, data="new.txt"):
    result = run("tag", files / data, "-m", files / "m.crf", *options)
    assert result.exit_code == 0, result.stderr
    return [line.split("\t")[-1] for line in result.stdout.splitlines()]


def test_train_saves_the_constraints_that_the_data_have(run, files):
    assert load(files / "m.crf").constraints == Constraints("BIO")
    assert tagged(run, files) == ["B-PER", "I-PER", "O", "", "B-PER", "O", "B-PER"]


def test_constrained_training_from_the_command_line(run, files):
    arguments = ("train", files / "train.txt", "-m", files / "n.crf", "--constrained-training", "--json")
    result = run(*arguments, "--constraints", "BIO")
    assert json.loads(result.stdout)["converged"]
    refused = run(*arguments)
    assert (refused.exit_code, "requires constraints; add --constraints NAME" in refused.stderr) == (2, True)


def test_given_labels_are_kept_and_question_marks_are_free(run, files):
    (files / "given.txt").write_text("Ada ?\nLovelace O\nwrote B-PER|I-PER\n\nBabbage ?\nmet ?\nAda O\n")
    labels = tagged(run, files, "--given", data="given.txt")
    assert labels == ["B-PER", "O", "B-PER", "", "B-PER", "O", "O"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Ada ?\nwrote B-LOC\n", "given.txt:2: the model has no label 'B-LOC'; write ? for unknown."),
        ("Ada\nwrote\n", "given.txt:1: there is no column of given labels; add one, with ? for unknown."),
        ("Ada ?\n\nAda O\nmet I-PER\n", "given.txt:4: the constraints allow only 'I-PER', which may not follow 'O' at"),
        ("Ada I-PER\n", "given.txt:1: the constraints contradict each other: given has 'I-PER'; the end of a sequence"),
    ],
)
def test_a_given_label_that_cannot_be_kept_is_one_message_and_nothing_is_lost(run, files, text, fault):
    (files / "given.txt").write_text(text)
    (files / "out.txt").write_text("an older result")
    for more in ([], ["--json"], ["--spans"], ["--scores"]):
        result = run("tag", files / "given.txt", "-m", files / "m.crf", "--given", "-o", files / "out.txt", *more)
        assert result.exit_code == 1
        assert fault in result.stderr
        assert result.stderr.count("\n") == 1
        assert (files / "out.txt").read_text() == "an older result"


def test_spans_are_lines_or_objects_with_the_probability_of_the_segment(run, files):
    model = load(files / "m.crf")
    result = run("tag", files / "new.txt", "-m", files / "m.crf", "--spans")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[:4] + row[5:] for row in rows] == [
        ["1", "0", "2", "PER", "Ada Lovelace"],
        ["5", "0", "1", "PER", "Babbage"],
        ["7", "2", "3", "PER", "Ada"],
    ]
    objects = [json.loads(line) for line in run(*command(files), "--json").stdout.splitlines()]
    assert [f"{span['probability']:.6f}" for each in objects for span in each["spans"]] == [row[4] for row in rows]
    refused = run(*command(files), "--spans", "--json")
    assert (refused.exit_code, "--spans cannot be combined with --json" in refused.stderr) == (2, True)
    assert model.constraints == Constraints("BIO")


def command(files):
    return "tag", files / "new.txt", "-m", files / "m.crf"


def test_constraints_of_a_json_file_replace_those_of_the_model(run, files):
    (files / "rules.json").write_text(
        '{"forbid": ["B-PER", [null, "O"]], "last": ["O"], "dictionary": {"word=Ada": ["I-PER"]}}'
    )
    labels = tagged(run, files, "--constraints", str(files / "rules.json"))
    assert labels[0] == labels[4] == "I-PER"
    assert "B-PER" not in labels
    assert labels[2] == labels[6] == "O"
    for text, fault in (
        ('{"forbids": []}', "holds no constraints: 'forbids' is no parameter of Constraints"),
        ("[1]", "holds no constraints"),
        ("{", "holds no constraints"),
        ('{"allow": ["X"]}', "allow has the label 'X', but the labels of the model are"),
    ):
        (files / "rules.json").write_text(text)
        result = run(*command(files), "--constraints", str(files / "rules.json"))
        assert (result.exit_code, fault in result.stderr) == (1, True), result.stderr
    result = run(*command(files), "--constraints", "IOB")
    assert (result.exit_code, "must be BIO, IOB1, BIOES, BILOU, auto, or an existing" in result.stderr) == (2, True)


def test_limits_and_ways_to_decode(run, files):
    assert tagged(run, files, "--max-segments", "1").count("B-PER") == 2, "one in each sequence"
    assert tagged(run, files, "--max-segments", "0").count("O") == 6
    assert tagged(run, files, "--decode", "mbr") == tagged(run, files)
    result = run(*command(files), "--decode", "beam")
    assert "decode must be one of viterbi, marginal, mbr" in result.stderr


def test_options_of_labels_apply_to_many_files(run, files):
    (files / "given.txt").write_text("Ada O\nLovelace ?\n")
    (files / "out").mkdir()
    result = run(
        "tag", files / "given.txt", "-m", files / "m.crf", "--folder", files / "out", "--given", "--n-jobs", "1"
    )
    assert result.exit_code == 0
    assert (files / "out" / "given.txt").read_text().splitlines()[0] == "Ada\tO\tO"


def test_a_column_of_given_labels_leads_to_the_labels_of_wapiti(run):
    fixtures = Path(__file__).parents[1] / "interchange" / "fixtures"
    result = run("tag", fixtures / "wapiti-forced-columns.txt", "-m", fixtures / "wapiti-model.txt", "--given")
    labels = [line.split("\t")[-1] for line in result.stdout.splitlines()]
    assert labels == (fixtures / "wapiti-forced-labels.txt").read_text().splitlines()[: len(labels)]
