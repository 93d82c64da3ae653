"""`fastcrf train --checkpoint FILE --resume`."""

from __future__ import annotations

import json

import pytest


def test_training_goes_on_from_a_checkpoint(run, corpus, tmp_path):
    state, model = tmp_path / "run.state", tmp_path / "new.crf"
    common = ["train", corpus, "-m", model, "--json", "--quiet", "--n-jobs", 1, "-a", "sag-nus-star", "--tol", 1e-12]
    first = json.loads(run(*common, "--max-iterations", 3, "--checkpoint", state).stdout)
    assert first["steps"] == 3
    both = json.loads(run(*common, "--max-iterations", 5, "--checkpoint", state, "--resume").stdout)
    whole = json.loads(run(*common, "--max-iterations", 5).stdout)
    assert (both["steps"], both["passes"], both["objective"]) == (5, whole["passes"], whole["objective"])


def test_a_checkpoint_with_other_options_raises_an_error_and_is_kept(run, corpus, tmp_path):
    state, model = tmp_path / "run.state", tmp_path / "new.crf"
    run("train", corpus, "-m", model, "--quiet", "--max-iterations", 2, "--checkpoint", state)
    before, trained = state.read_bytes(), model.read_bytes()
    result = run("train", corpus, "-m", model, "--quiet", "--c2", 7, "--checkpoint", state, "--resume")
    assert result.exit_code != 0
    assert "different penalty" in result.stderr
    assert (state.read_bytes(), model.read_bytes()) == (before, trained)


@pytest.mark.parametrize(("before", "after"), [(None, "dev.txt"), ("dev.txt", None), ("dev.txt", "train.txt")])
def test_a_checkpoint_with_other_held_out_data_raises_an_error(run, corpus, tmp_path, before, after):
    common = ["train", corpus, "-m", tmp_path / "new.crf", "--quiet", "--checkpoint", tmp_path / "run.state"]
    first, second = (["--dev", corpus.parent / name, "--patience", 9] if name else [] for name in (before, after))
    assert run(*common, *first, "--max-iterations", 2).exit_code == 0
    result = run(*common, *second, "--max-iterations", 4, "--resume")
    assert result.exit_code == 1
    assert "different held-out set; use the same held-out data" in result.stderr
    assert run(*common, *first, "--max-iterations", 4, "--resume").exit_code == 0


def test_resume_needs_a_checkpoint_to_go_on_from(run, corpus, tmp_path):
    result = run("train", corpus, "-m", tmp_path / "new.crf", "--resume")
    assert result.exit_code == 2
    assert "--checkpoint" in result.stderr
