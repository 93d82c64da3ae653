"""The kernels are ready before the clock runs."""

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.base import make
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


def test_a_penalty_that_does_not_fit_is_left_for_the_run_to_report(problem):
    rehearse(problem, make("owlqn"))
