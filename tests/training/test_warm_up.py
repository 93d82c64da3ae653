"""The kernels are ready before the clock runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.training import driver
from fastcrf.training.warm_up import first_sequences, warm_up
from reference.random_corpora import random_corpus, random_features


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
