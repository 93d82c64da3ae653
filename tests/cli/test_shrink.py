"""`fastcrf shrink`: the report, and that a model is never lost."""

from __future__ import annotations

from fastcrf.model.model import Model


def test_the_report_compares_size_and_labels(run, model, corpus, tmp_path):
    target = tmp_path / "small.crf"
    result = run("shrink", model, target, "--keep", "0.99", "--bits", "8", "--data", corpus)
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.output.splitlines()] == [
        "bytes",
        "attributes",
        "weights",
        "labels",
        "accuracy",
        "F1",
    ]
    assert f"{target.stat().st_size:,} " in result.output.splitlines()[0]
    assert target.stat().st_size < model.stat().st_size / 2
    assert run("tag", corpus, "-m", target).exit_code == 0


def test_a_wrong_option_or_target_leaves_the_files_alone(run, model, tmp_path):
    before = model.read_bytes()
    assert run("shrink", model, model).exit_code == 1
    assert run("shrink", model, tmp_path / "small.crf", "--bits", "99").exit_code == 1
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    assert run("shrink", model, notes).exit_code == 1
    assert (model.read_bytes(), notes.read_text()) == (before, "mine")
    assert not (tmp_path / "small.crf").exists()
    assert Model.load(model)
