"""`fastcrf train --online`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fastcrf.model.model import Model


def test_a_file_is_learnt_in_chunks(run, corpus, tmp_path):
    model = tmp_path / "new.crf"
    result = run("train", corpus, "-m", model, "--online", "--chunk-size", 15, "--json")
    outcome = json.loads(result.stdout)
    assert (outcome["algorithm"], outcome["sequences"], outcome["chunks"]) == ("psa", 40, 3)
    assert "40 sequences, 3 labels" in result.stderr
    assert "predicted wrongly before training on it" in result.stderr
    assert Model.load(model).predict_single([["0[0]=the", "bias"]]) == ["B-NP"]
    assert run("evaluate", corpus.parent / "dev.txt", "-m", model).exit_code == 0


def test_standard_input_goes_by(run, corpus, tmp_path):
    whole, piped = tmp_path / "whole.crf", tmp_path / "piped.crf"
    common = ["--online", "--chunk-size", 15, "--quiet"]
    assert run("train", corpus, "-m", whole, *common).exit_code == 0
    assert run("train", "-", "-m", piped, *common, input=corpus.read_text()).exit_code == 0
    np.testing.assert_array_equal(Model.load(whole).weights, Model.load(piped).weights)


def test_a_stream_that_was_broken_off_goes_on_exactly(run, corpus, tmp_path):
    half, model, state = tmp_path / "half.txt", tmp_path / "new.crf", tmp_path / "stream.state"
    sentences = corpus.read_text().split("\n\n")
    half.write_text("\n\n".join(sentences[:20]) + "\n\n")
    common = ["-m", model, "--online", "--chunk-size", 10, "--quiet"]
    assert run("train", corpus, *common).exit_code == 0
    whole = Model.load(model).weights
    assert run("train", half, *common, "--checkpoint", state).exit_code == 0
    assert not np.array_equal(Model.load(model).weights, whole)
    assert run("train", corpus, *common, "--checkpoint", state, "--resume").exit_code == 0
    np.testing.assert_array_equal(Model.load(model).weights, whole)
    other = run("train", corpus, *common, "--checkpoint", state, "--resume", "--c2", 7)
    assert "was made with a different c2" in other.stderr


@pytest.mark.parametrize("option", [("--tol", 1e-3), ("--dev", "x"), ("--min-freq", 2), ("--max-iterations", 3)])
def test_options_for_data_that_are_kept_raise_an_error(run, corpus, tmp_path, option):
    result = run("train", corpus, "-m", tmp_path / "new.crf", "--online", *option)
    assert result.exit_code == 2
    assert "--online" in result.stderr


def test_a_solver_that_cannot_says_why(run, corpus, tmp_path):
    result = run("train", corpus, "-m", tmp_path / "new.crf", "--online", "-a", "sag", "--quiet")
    assert "sag does not support online learning: it keeps a table" in result.stderr
