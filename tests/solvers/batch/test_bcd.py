"""Block coordinate descent against the update of the paper, and against OWL-QN at the optimum."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.batch.bcd import BCD
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from reference import plain_blocks
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2)


def sweeps(problem, n, start=None, state=None):
    steps = BCD().iterate(problem, np.zeros(problem.n_weights) if start is None else start, state)
    return list(islice(steps, n + 1))


@pytest.mark.parametrize(("c1", "c2"), [(0.3, 0.0), (0.0, 0.5), (0.2, 0.1)])
@pytest.mark.parametrize("plain", [True, False])
def test_every_sweep_equals_the_update_of_the_paper(c1, c2, plain):
    corpus = random_corpus(1, lengths=LENGTHS, values=not plain, weights=not plain)
    features = random_features(1)
    ours = [step.weights for step in sweeps(Problem(corpus, features, c1, c2), 6)]
    np.testing.assert_allclose(ours, plain_blocks.sweeps(corpus, features, c1, c2, 6), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("order", [2, 3])
def test_every_sweep_in_a_chain_of_higher_order_equals_the_update_as_well(order):
    corpus, features = random_corpus(1, lengths=LENGTHS, weights=True), random_features(1, order=order, density=0.4)
    ours = [step.weights for step in sweeps(Problem(corpus, features, 0.2, 0.1), 3)]
    np.testing.assert_allclose(ours, plain_blocks.sweeps(corpus, features, 0.2, 0.1, 3), rtol=1e-9, atol=1e-11)


def learnable_problem(c1, c2):
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), c1, c2)


@pytest.mark.parametrize(("c1", "c2"), [(0.5, 0.0), (0.3, 0.2)])
def test_it_has_the_optimum_and_the_zeros_of_owlqn(c1, c2):
    problem = learnable_problem(c1, c2)
    ours, theirs = (minimize(problem, make(name), stop=[MaxIterations(400)]).weights for name in ("bcd", "owlqn"))
    assert problem.value(ours) == pytest.approx(problem.value(theirs), rel=1e-9)
    np.testing.assert_array_equal(ours == 0.0, theirs == 0.0)


def test_scores_too_wide_for_probabilities_take_the_other_road():
    """500 times as wide at the start; the squares of such bigrams' probabilities are left out of the curvature."""
    problem = learnable_problem(0.5, 0.2)
    start = 500.0 * np.random.default_rng(0).normal(size=problem.n_weights)
    values = [problem.value(step.weights) for step in sweeps(problem, 30, start)]
    assert np.isfinite(values).all()
    assert values[-1] < 0.5 * values[0]


def test_sequences_that_no_move_has_touched_are_not_inferred_again():
    problem = learnable_problem(0.0, 1.0)
    occurrences = len(problem.corpus.attributes) / problem.n_sequences
    still = Problem(problem.corpus, problem.features, c1=1e3)
    assert sweeps(still, 1)[1].passes == pytest.approx(2.0)  # each sequence once, and once for the transitions
    assert 2.0 < sweeps(problem, 1)[1].passes < occurrences + 1.0


def test_a_sweep_that_was_broken_off_is_finished_exactly(monkeypatch):
    monkeypatch.setattr("fastcrf.objective.movable.SLICE_OF_POSITIONS", 20)  # one block at a time
    problem = learnable_problem(0.2, 0.1)
    run = BCD().iterate(problem, np.zeros(problem.n_weights))
    next(run)
    problem.asked_to_stop = lambda: True
    stopped = next(run)
    assert 0 < stopped.state["blocks_done"] < problem.features.n_attributes
    problem.asked_to_stop = lambda: False
    state = {"weights": stopped.weights.copy(), "blocks_done": stopped.state["blocks_done"]}
    for expected, step in zip(islice(run, 3), sweeps(problem, 3, state=state)[1:], strict=True):
        np.testing.assert_array_equal(step.weights, expected.weights)


def test_a_step_ends_within_nine_passes_and_the_next_one_continues_the_sweep():
    corpus, features = random_corpus(0, lengths=[60, 50], n_attributes=40), random_features(0, n_attributes=40)
    steps = sweeps(Problem(corpus, features, 0.0, 0.5), 12)
    assert max(step.passes for step in steps) <= 9
    assert len({step.state["blocks_done"] for step in steps}) > 1
    objectives = [Problem(corpus, features, 0.0, 0.5).value(step.weights) for step in steps]
    assert objectives[-1] < objectives[0]
