from __future__ import annotations

import json
import re

import pytest


def test_a_model_without_a_fault_scores_a_hundred(run, corpus, model):
    result = run("evaluate", corpus.parent / "dev.txt", "-m", model)
    assert result.exit_code == 0
    assert re.search(r"token accuracy +100\.00%", result.stdout)
    assert re.search(r"segment F1 +100\.00%", result.stdout)
    assert re.search(r"\nNP +100\.00% +100\.00% +100\.00%", result.stdout)


def test_scores_are_those_of_the_labels_in_the_file(run, model, tmp_path):
    rows = "the D B-NP\ndog N I-NP\nsees V O\n\nthe D B-NP\ncat N O\n"  # the model says I-NP of the last
    (tmp_path / "test.txt").write_text(rows)
    scores = json.loads(run("evaluate", tmp_path / "test.txt", "-m", model, "--json").stdout)
    assert scores["tokens"] == 5
    assert scores["sequences"] == 2
    assert scores["token_accuracy"] == pytest.approx(4 / 5)
    assert scores["sequence_accuracy"] == pytest.approx(1 / 2)
    assert scores["segments"]["f1"] == pytest.approx(1 / 2)
    assert scores["types"] == {"NP": scores["segments"]}
    assert scores["segments"] == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "n_true": 2,
        "n_predicted": 2,
        "n_correct": 1,
    }


def test_data_come_from_standard_input(run, model):
    assert "F1" in run("evaluate", "-", "-m", model, input=b"the D B-NP\n").stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("the D\n", ":1: found 2 columns, but the model needs 3, the last of them the label."),
        ("the D O\na D\n", ":2: found 2 columns instead of 3"),
        ("", " holds no sentence"),
    ],
)
def test_data_without_labels_raise_an_error(run, model, tmp_path, text, sentence):
    (tmp_path / "test.txt").write_text(text)
    result = run("evaluate", tmp_path / "test.txt", "-m", model)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"test.txt{sentence}" in result.stderr
