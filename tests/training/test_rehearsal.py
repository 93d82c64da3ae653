"""The kernels are ready before the clock runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.training import rehearsal
from fastcrf.training.rehearsal import first_sequences, rehearse
from reference.random_corpora import random_corpus, random_features


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr(rehearsal, "REHEARSED", set())
    return Problem(random_corpus(2, values=True, weights=True), random_features(2), c2=1.0)


def test_the_first_sequences_are_a_corpus_of_their_own(problem):
    small = first_sequences(problem.corpus, 2)
    assert small.n_sequences == 2
    assert len(small.attributes) == len(small.values) == small.offsets[-1]
    assert len(small.labels) == len(small.offsets) - 1 == small.n_positions
    np.testing.assert_array_equal(small.weights, problem.corpus.weights[:2])
    assert first_sequences(problem.corpus, 100).n_sequences == problem.n_sequences


def test_each_solver_is_rehearsed_once_a_process_and_the_problem_is_left_alone(problem, monkeypatch):
    runs = []
    original = rehearsal.minimize
    spy = lambda *args, **kwargs: runs.append(args[1].name) or original(*args, **kwargs)  # noqa: E731
    monkeypatch.setattr(rehearsal, "minimize", spy)
    before = problem.value(np.zeros(problem.n_weights))
    for name in ("lbfgs", "sag", "lbfgs", "sag"):
        rehearse(problem, make(name))
    assert runs == ["lbfgs", "sag"]
    assert problem.value(np.zeros(problem.n_weights)) == before


@pytest.fixture
def rehearsed(monkeypatch):
    """The (solver, c1) of every rehearsal."""
    runs = []
    monkeypatch.setattr(
        rehearsal, "minimize", lambda *args, **_: runs.append((args[1], args[0].c1)) or SimpleNamespace(status="")
    )
    return runs


def test_an_l1_penalty_has_a_rehearsal_of_its_own(problem, rehearsed):
    sparse = Problem(problem.corpus, problem.features, c1=0.5, c2=1.0)
    for one in (problem, sparse, problem, sparse):
        rehearse(one, make("prox-saga"))
    assert [c1 for _, c1 in rehearsed] == [0.0, 0.5]


def test_a_number_for_each_sequence_is_left_out_of_a_rehearsal_with_two(problem, rehearsed):
    rehearse(problem, make("saga-nus", sampling=[1.0] * problem.n_sequences, seed=3))
    assert rehearsed == [(make("saga-nus", seed=3), 0.0)]


def test_a_penalty_that_does_not_fit_is_left_for_the_run_to_report(problem):
    rehearse(problem, make("owlqn"))
