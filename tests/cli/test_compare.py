"""`fastcrf compare` from a file to tables, rows and figures, and its sentences when it cannot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from fastcrf.cli.commands.compare import find_dataset
from fastcrf.cli.data_files import training_files
from fastcrf.cli.options.solver_options import listed_solvers, read_solver
from fastcrf.data.files.crfsuite_items import write_items
from fastcrf.lab.resumable_run import minimize_resumably
from fastcrf.solvers import registry


@pytest.fixture
def compare(run, tmp_path):
    """Run the command with a cache of its own."""

    def invoke(*arguments, **options):
        return run("compare", *arguments, "--cache", tmp_path / "cache", "--n-jobs", 1, "--quiet", **options)

    return invoke


def test_the_table_shows_how_each_ended_and_who_was_first(compare, corpus):
    result = compare(corpus, "--solvers", "lbfgs,sag,owlqn", "--max-passes", 20, "--c2", 0.5)
    assert result.exit_code == 0, result.stderr
    assert "train.txt: 32 sequences" in result.stdout
    assert "certified to" in result.stdout
    assert "owlqn skipped: owlqn requires an L1 penalty" in result.stdout
    assert "seconds (passes) to a relative gap of" in result.stdout
    for solver in ("lbfgs", "sag"):
        assert f"\n{solver} " in result.stdout


def test_without_a_list_the_usual_solvers_that_handle_the_penalty_run(compare, corpus):
    found = json.loads(compare(corpus, "--c1", 1, "--c2", 0, "--max-passes", 5, "--json").stdout)
    assert "owlqn" in {run["solver"] for run in found[0]["runs"]}
    assert "lbfgs" not in {run["solver"] for run in found[0]["runs"]}
    assert "skipped" not in {run["status"] for run in found[0]["runs"]}


def test_all_solvers_are_those_that_handle_the_penalty():
    for penalty, kind in (((0.0, 1.0), "l2"), ((1.0, 0.0), "l1"), ((1.0, 1.0), "l1+l2")):
        able = {name for name in registry.names() if kind in registry.solver_class(name).handles}
        assert set(listed_solvers("all", *penalty)) == able
        assert set(listed_solvers(None, *penalty)) < able


def test_json_tells_what_the_table_tells(compare, corpus):
    arguments = (corpus, "--solvers", "sgd", "--repeat", 2, "--max-passes", 4, "--dev", corpus.parent / "dev.txt")
    (comparison,) = json.loads(compare(*arguments, "--json").stdout)
    assert (comparison["sequences"], comparison["c1"], comparison["c2"]) == (40, 0.0, 1.0)
    assert [run["seed"] for run in comparison["runs"]] == [0, 1]
    for name in ("error", "active", "state_mb", "suboptimality", "status", "reason"):
        assert comparison["runs"][0][name] is not None


def test_rows_and_figures_are_written(compare, corpus, tmp_path):
    rows, figure = tmp_path / "rows.jsonl", tmp_path / "figure.html"
    result = compare(corpus, "--solvers", "lbfgs", "--max-passes", 5, "--rows", rows, "--figure", figure)
    assert result.exit_code == 0, result.stderr
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["step"] for row in lines] == list(range(len(lines)))
    assert lines[-1]["suboptimality"] < lines[0]["suboptimality"]
    assert figure.read_text().startswith("<!doctype html>")


def test_the_same_command_again_gives_the_same_rows(compare, corpus, tmp_path):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for path in (first, second):
        assert compare(corpus, "--solvers", "lbfgs,sag", "--max-passes", 6, "--rows", path).exit_code == 0
    assert first.read_text() == second.read_text()


def test_item_files_and_templates_are_data_as_well(compare, tmp_path, corpus):
    path = tmp_path / "items.txt"
    with open(path, "w", encoding="utf-8") as file:
        write_items(file, [[["a", "b"], ["c"]], [["c"]]] * 6, [["X", "Y"], ["Y"]] * 6)
    (from_items,) = json.loads(compare(path, "--items", "--solvers", "lbfgs", "--max-passes", 3, "--json").stdout)
    assert (from_items["sequences"], from_items["labels"]) == (10, 2)
    template = tmp_path / "template.txt"
    template.write_text("U00:%x[0,0]\nU01:%x[-1,1]\nB\n")
    options = ("--template", template, "--solvers", "lbfgs", "--max-passes", 3, "--json")
    (from_template,) = json.loads(compare(corpus, *options).stdout)
    assert from_template["runs"][0]["error"] < 0.2


def test_several_data_are_compared_one_after_another(compare, corpus):
    found = json.loads(
        compare(corpus, corpus.parent / "dev.txt", "--solvers", "lbfgs", "--max-passes", 2, "--json").stdout
    )
    assert [comparison["dataset"] for comparison in found] == ["train.txt", "dev.txt"]


def test_solvers_may_have_options():
    label, solver = read_solver("sgd:batch_size=10:schedule=sqrt")
    assert (label, solver.batch_size, solver.schedule) == ("sgd:batch_size=10:schedule=sqrt", 10, "sqrt")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--solvers", "newton"], "There is no solver 'newton'; did you mean"),
        (["--solvers", "sgd:speed=3"], "sgd has no option 'speed'"),
        (["--solvers", "sgd:batch"], "--solvers expects NAME=VALUE, such as pairs=20; got 'batch'."),
        (["--figure", "curves.doc"], "The name of a figure must end in"),
        (["--figure", "nowhere/curves.html"], "No such folder"),
        (["--max-passes", "0"], "--max-passes must be a finite number above 0"),
        (["--c2", "-1"], "--c2"),
    ],
)
def test_a_wrong_argument_is_one_sentence_before_anything_is_run(compare, corpus, arguments, sentence):
    result = compare(corpus, *arguments)
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_not_there_is_one_sentence(compare):
    result = compare("nothing.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing.txt" in result.stderr


def test_a_folder_that_cannot_hold_runs_is_named_before_anything_is_read(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(sys, "platform", "linux")  # where this variable counts
    result = run("compare", "nothing.txt")
    assert result.exit_code == 1
    folder = tmp_path / "file" / "fastcrf" / "lab"
    assert result.stderr == (
        f"fastcrf: Cannot save runs in {folder}: Not a directory. Name a writable folder with --cache FOLDER.\n"
    )
    assert "/nowhere: " in run("compare", "nothing.txt", "--cache", tmp_path / "file" / "nowhere").stderr


def test_a_run_is_announced_with_its_seed_if_it_has_one(run, corpus, tmp_path):
    options = ["--solvers", "lbfgs,sgd", "--max-passes", 2, "--cache", tmp_path / "cache", "--n-jobs", 1]
    told = run("compare", corpus, *options).stderr.splitlines()
    assert "train.txt: lbfgs runs, 1 of 2." in told
    assert "train.txt: sgd runs (seed 0), 2 of 2." in told


def test_held_out_files_are_for_files(compare, corpus):
    result = compare("digits", "--dev", corpus)
    assert result.exit_code == 2
    assert "digits has held-out data of its own" in result.stderr


def test_a_command_that_is_killed_goes_on_from_what_it_had(corpus, tmp_path):
    """The first run is killed for good when its first solver has ended; the second must not run that one again."""
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "fastcrf", "compare", str(corpus), "--solvers", "lbfgs,sag,sag-nus-star"]
    command += ["--max-passes", "400", "--tol", "1e-12", "--cache", str(cache), "--n-jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "sag runs" not in process.stderr.readline() and process.poll() is None:
        """Reading, compiling, lbfgs."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {path: path.read_text() for path in cache.glob("*.jsonl")}
    assert kept
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "lbfgs runs" not in done.stderr
    assert all(path.read_text() == text for path, text in kept.items())
    assert {"lbfgs", "sag", "sag-nus-star"} <= {line.split()[0] for line in done.stdout.splitlines() if line}


def test_ctrl_c_keeps_what_was_measured_and_says_so(compare, corpus, tmp_path, monkeypatch):
    def press_ctrl_c(row):
        if row["step"] == 2:
            signal.raise_signal(signal.SIGINT)

    interrupted = partial(minimize_resumably, callbacks=[press_ctrl_c])
    monkeypatch.setattr("fastcrf.lab.runner.minimize_resumably", interrupted)
    result = compare(corpus, "--solvers", "sag", "--max-passes", 9, "--tol", 0)
    assert (result.exit_code, result.stdout) == (130, "")
    assert "run the same command again to continue" in result.stderr
    assert list((tmp_path / "cache").glob("*.state"))


def test_a_file_has_the_name_of_its_last_part_and_a_fifth_held_out(corpus):
    dataset = find_dataset(str(corpus), None, training_files(None, None, False))
    assert (dataset.name, dataset.corpus.n_sequences, dataset.held_out.n_sequences) == ("train.txt", 32, 8)
