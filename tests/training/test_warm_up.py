"""The kernels are ready before the clock runs; and that they are being compiled is said once, and only when true."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.training import driver
from fastcrf.training.warm_up import ANNOUNCER, NOTICE, announce_compilation, first_sequences, warm_up
from reference.random_corpora import random_corpus, random_features

FIT_TWICE = """
from fastcrf import CRF
X, y = [[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]]
CRF(n_jobs=1).fit(X, y)
CRF(n_jobs=1).fit(X, y)
"""


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr("fastcrf.training.warm_up.WARM", set())
    return Problem(random_corpus(2, values=True, weights=True), random_features(2), c2=1.0)


def test_the_first_sequences_are_a_corpus_of_their_own(problem):
    small = first_sequences(problem.corpus, 2)
    assert small.n_sequences == 2
    assert len(small.attributes) == len(small.values) == small.offsets[-1]
    assert len(small.labels) == len(small.offsets) - 1 == small.n_positions
    np.testing.assert_array_equal(small.weights, problem.corpus.weights[:2])
    assert first_sequences(problem.corpus, 100).n_sequences == problem.n_sequences


def test_each_solver_is_warmed_up_once_a_process_and_the_problem_is_left_alone(problem, monkeypatch):
    runs = []
    original = driver.minimize
    spy = lambda *args, **kwargs: runs.append(args[1].name) or original(*args, **kwargs)  # noqa: E731
    monkeypatch.setattr(driver, "minimize", spy)
    before = problem.value(np.zeros(problem.n_weights))
    for name in ("lbfgs", "sag", "lbfgs", "sag"):
        warm_up(problem, make(name))
    assert runs == ["lbfgs", "sag"]
    assert problem.value(np.zeros(problem.n_weights)) == before


@pytest.fixture
def warmed_up(monkeypatch):
    """The (solver, c1) of every warm-up."""
    runs = []
    monkeypatch.setattr(
        driver, "minimize", lambda *args, **_: runs.append((args[1], args[0].c1)) or SimpleNamespace(status="")
    )
    return runs


def test_an_l1_penalty_has_a_warm_up_of_its_own(problem, warmed_up):
    sparse = Problem(problem.corpus, problem.features, c1=0.5, c2=1.0)
    for one in (problem, sparse, problem, sparse):
        warm_up(one, make("prox-saga"))
    assert [c1 for _, c1 in warmed_up] == [0.0, 0.5]


def test_a_number_for_each_sequence_is_left_out_of_a_warm_up_with_two(problem, warmed_up):
    warm_up(problem, make("saga-fixed-probabilities", sampling=[1.0] * problem.n_sequences, seed=3))
    assert warmed_up == [(make("saga-fixed-probabilities", seed=3), 0.0)]


def test_a_penalty_that_does_not_fit_is_left_for_the_run_to_report(problem):
    warm_up(problem, make("owlqn"))


def fresh_kernel():
    def plus_one(x):
        return x + 1

    plus_one.__module__ = "fastcrf.tests"
    return numba.njit(plus_one)  # without a cache: it must be compiled each time


def test_the_first_compilation_is_announced_and_the_next_is_not(monkeypatch, caplog):
    monkeypatch.setattr(ANNOUNCER, "announced", False)
    with caplog.at_level(logging.WARNING, logger="fastcrf"), announce_compilation():
        assert fresh_kernel()(1) == 2
        assert fresh_kernel()(2) == 3
    assert [record.message for record in caplog.records] == [NOTICE]


def test_outside_of_training_nothing_is_said(monkeypatch, caplog):
    monkeypatch.setattr(ANNOUNCER, "announced", False)
    assert fresh_kernel()(1) == 2
    assert not caplog.records


def test_a_process_that_finds_its_kernels_compiled_says_nothing():
    """The first of two processes compiles what an earlier one did not; the second has nothing left to compile."""
    command = [sys.executable, "-c", FIT_TWICE]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(2))
    assert first in ("", NOTICE + "\n")
    assert second == ""
