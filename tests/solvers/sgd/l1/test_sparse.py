"""The solvers of tsuruoka2009 against dense twins written from the paper."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.feature_space import layout
from fastcrf.objective.problem import Problem
from fastcrf.penalties.proximal import proximal_step
from fastcrf.solvers import registry
from fastcrf.solvers.sgd.l1.sgd_l1 import SGDL1
from fastcrf.stochastic.sampling import epoch_permutation
from reference import dense_sparse_sgd
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED, C, ETA, EPOCHS, RADIUS = len(LENGTHS), 7, 0.6, 0.5, 5, 3.0
RATES = {
    "epoch": lambda k: ETA / (1 + k / N),
    "exponential": lambda k: ETA * 0.85 ** (k / N),
    "exponential with a tail": lambda k: ETA * (0.85 ** (k / N) + 0.1 / (1 + k / N)),
}
each_schedule = pytest.mark.parametrize("schedule", RATES)


@pytest.fixture(params=[1, 2], ids=["rows", "rows and cells"])
def problem(request, monkeypatch):
    monkeypatch.setattr(layout, "dense_threshold", lambda padded: request.param)
    return Problem(learnable_corpus(3, lengths=LENGTHS, values=True), random_features(3), C, 0.0)


def steps_of(problem, name, schedule, **options):
    """The weights of the start and of every epoch."""
    tail = {"tail": 0.1} if schedule.endswith("tail") else {}
    solver = registry.make(name, schedule=schedule.split()[0], eta=ETA, seed=SEED, **tail, **options)
    return list(islice(copied(solver.iterate(problem, np.zeros(problem.n_weights))), EPOCHS + 1))


def copied(steps):
    for step in steps:
        kept = {key: np.array(value) for key, value in step.state.items()}
        yield step._replace(weights=step.weights.copy(), state=kept)


def draws(schedule):
    order = np.concatenate([epoch_permutation(SEED, epoch + 1, N) for epoch in range(EPOCHS)])
    return order, [RATES[schedule](k) for k in range(len(order))]


def ends(updates):
    return list(updates)[N - 1 :: N]


def used(problem):
    """The features that a sequence can have: those of its attributes, and the transitions."""
    corpus, features = problem.corpus, problem.features

    def features_of(i):
        attributes = set(corpus.attributes[slice(*corpus.offsets[corpus.starts[[i, i + 1]]])].tolist())
        state = [f for a in attributes for f in range(features.offsets[a], features.offsets[a + 1])]
        return state + list(range(features.n_state, features.n_weights))

    return features_of


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(found == 0.0, expected == 0.0)


@each_schedule
@pytest.mark.parametrize("name", ["naive", "clipping"])
def test_naive_and_clipped_steps_equal_those_of_dense_vectors(problem, name, schedule):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    twin = ends(getattr(dense_sparse_sgd, name)(loss, w, *draws(schedule), C, N))
    for step, expected in zip(steps_of(problem, f"sgd-l1-{name}", schedule)[1:], twin, strict=True):
        assert_same(step.weights, expected)
        assert step.passes == 1
        assert step.info["step_size"] > 0.0
    assert (np.count_nonzero(expected) < len(expected)) == (name == "clipping")


@each_schedule
def test_cumulative_penalties_are_those_of_figure_2(problem, schedule):
    loss, w = SequenceLoss(problem.corpus, problem.features), np.zeros(problem.n_weights)
    twin = ends(dense_sparse_sgd.cumulative(loss, used(problem), w, *draws(schedule), C, N))
    for step, (w, q, u) in zip(steps_of(problem, "sgd-l1", schedule)[1:], twin, strict=True):
        assert_same(step.weights, w)
        np.testing.assert_allclose(step.state["penalty_received"], q, rtol=1e-11, atol=1e-13)
        assert step.state["penalty_due"] == pytest.approx(u, rel=1e-12)
    assert 0 < np.count_nonzero(w) < len(w)


def test_with_finalize_all_of_the_penalty_is_applied_to_what_is_read_alone(problem):
    plain, final = (steps_of(problem, "sgd-l1", "epoch", finalize=finalize) for finalize in (False, True))
    for one, other in zip(plain, final, strict=True):
        np.testing.assert_array_equal(one.weights, other.state["weights"])
        due = proximal_step(one.weights, one.state["penalty_received"], 1.0, float(one.state["penalty_due"]))
        np.testing.assert_array_equal(other.weights, due)
    assert (final[-1].weights != plain[-1].weights).any()


@each_schedule
def test_every_update_ends_in_the_ball(problem, schedule):
    free = Problem(problem.corpus, problem.features)
    loss, w = SequenceLoss(free.corpus, free.features), np.zeros(free.n_weights)
    twin = ends(dense_sparse_sgd.within_ball(loss, w, *draws(schedule), RADIUS))
    for step, expected in zip(steps_of(free, "sgd-l1-ball", schedule, radius=RADIUS)[1:], twin, strict=True):
        assert_same(step.weights, expected)
    assert np.abs(expected).sum() == pytest.approx(RADIUS)
    assert 0 < np.count_nonzero(expected) < len(expected)


def test_the_calibrated_step_size_is_kept_and_its_passes_are_counted(problem):
    first, second, third = islice(SGDL1(eta=None, samples=4).iterate(problem, np.zeros(problem.n_weights)), 3)
    assert first.state["eta"] == 0.0
    assert second.state["eta"] == third.state["eta"] > 0.0
    assert second.passes > 1 + 10 * 4 / N  # at least 10 candidates, each trained on the sample
    assert third.passes == 1


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("sgd-l1", {"schedule": "bottou"}, "sgd-l1: schedule must be one of constant, epoch, exponential; got"),
        ("sgd-l1", {"tail": -0.1}, "sgd-l1: tail must be a number of at least 0; got tail=-0.1."),
        ("sgd-l1-ball", {"radius": 0}, "sgd-l1-ball: radius must be a number above 0; got radius=0."),
        ("sgd-l1-naive", {"eta": -1}, "sgd-l1-naive: eta must be a number above 0; got eta=-1."),
        ("sgd-l1-clipping", {"decay": 0}, "sgd-l1-clipping: decay must be a number above 0; got decay=0."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(name, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        registry.make(name, **options)
