"""Runs that are killed go on bit for bit; checkpoints that do not fit are refused in one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastcrf.exceptions import CheckpointError
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from fastcrf.training.trace import SPENT
from reference.random_corpora import random_corpus, random_features

TESTS = Path(__file__).parents[1]
STEPS, LAST = 12, 4  # of a run; before the kill
TIMES = set(SPENT) - {"step", "passes"}


def small_problem(seed=0, c2=0.5, n_jobs=1, density=0.6):
    corpus = random_corpus(seed, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 2)
    return Problem(corpus, random_features(seed, density=density), c2=c2, n_jobs=n_jobs)


def run(solver, path=None, resume=False, steps=STEPS, problem=None, **options):
    problem = problem or small_problem()
    checkpoint = Checkpoint(path, every=0.0, resume=resume) if path else None
    watch = {"value": lambda w: -problem.value(w)}
    stop, solver = [MaxIterations(steps)], make(solver, **options)
    return minimize(problem, solver, stop=stop, watch=watch, best="value", checkpoint=checkpoint)


def rows_without_times(trace):
    return [{name: value for name, value in row.items() if name not in TIMES} for row in trace]


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "sag-nus-star"])
def test_a_run_killed_and_continued_gives_the_rows_of_an_uninterrupted_one_bit_for_bit(solver, tmp_path):
    path = tmp_path / "run.state"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "ignore", __file__, solver, str(path)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:  # a number after each row
            if int(line) == LAST:
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    saved = Checkpoint(path, resume=True)
    problem = small_problem()
    trace = saved.open(problem, make(solver), np.zeros(problem.n_weights)).numbers["trace"]
    assert len(trace) == LAST + 1
    continued, whole = run(solver, path, resume=True), run(solver)
    assert rows_without_times(continued.trace) == rows_without_times(whole.trace)
    np.testing.assert_array_equal(continued.weights, whole.weights)


def test_a_finished_run_can_be_continued_with_a_higher_limit(tmp_path):
    path = tmp_path / "run.state"
    run("sag", path, steps=5)
    continued, whole = run("sag", path, resume=True, steps=9), run("sag", steps=9)
    assert rows_without_times(continued.trace) == rows_without_times(whole.trace)


def test_without_resume_an_old_checkpoint_is_overwritten(tmp_path):
    path = tmp_path / "run.state"
    run("lbfgs", path, steps=3)
    assert len(run("lbfgs", path, steps=3).trace) == 4


def test_resume_without_a_checkpoint_starts_at_the_beginning(tmp_path):
    assert run("lbfgs", tmp_path / "none.state", resume=True, steps=3).trace[0]["step"] == 0


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("corpus", {"problem": small_problem(seed=1)}),
        ("features", {"problem": small_problem(density=1.0)}),
        ("penalty", {"problem": small_problem(c2=0.25)}),
        ("number of threads", {"problem": small_problem(n_jobs=2)}),
        ("solver", {"seed": 3}),
        ("version", {}),
    ],
)
def test_a_checkpoint_of_something_else_raises_an_error(part, changed, tmp_path, monkeypatch):
    path = tmp_path / "run.state"
    run("sag", path, steps=2)
    if part == "version":
        monkeypatch.setattr("fastcrf.training.checkpoint.STATES", "9.9")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=f"a different {part}") as refusal:
        run("sag", path, resume=True, steps=4, **changed)
    assert str(refusal.value).count(". ") == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x10\0\0\0\0\0\0\0{}"])
def test_a_damaged_checkpoint_raises_an_error(content, tmp_path):
    path = tmp_path / "run.state"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="start over"):
        run("lbfgs", path, resume=True)


def test_checkpoints_are_written_by_time(tmp_path):
    path, problem = tmp_path / "run.state", small_problem()
    seen = []
    look = [lambda row: seen.append(path.exists())]
    minimize(problem, make("lbfgs"), stop=[MaxIterations(4)], callbacks=look, checkpoint=Checkpoint(path, every=1e6))
    assert not any(seen)
    assert path.exists()  # at the end, so that the run can be continued


if __name__ == "__main__":  # the process that is killed: prints the number of each row, and waits at one
    solver_name, state = sys.argv[1:]
    original = Checkpoint.write

    def write_and_tell(self, saved):
        original(self, saved)
        step = saved.numbers["trace"][-1]["step"]
        print(json.dumps(step), flush=True)
        if step == LAST:
            sys.stdin.read()  # until it is killed

    Checkpoint.write = write_and_tell
    run(solver_name, state)
