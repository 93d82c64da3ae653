"""AdaGrad against its dense twin: every penalty, batches, and what cannot be."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.data.corpus.reordering import order_of_blocks
from fastcrf.feature_space import layout
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.adagrad import AdaGrad
from fastcrf.stochastic.sampling import epoch_permutation
from reference import dense_adagrad
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED = len(LENGTHS), 7
PENALTIES = {
    "none": (0.0, 0.0),
    "l1": (0.4, 0.0),
    "l2": (0.0, 0.8),
    "weak": (0.0, 0.03),
    "both": (0.3, 0.4),
    "nearly l1": (0.3, 1e-12),
}


def small_problem(c1=0.0, c2=0.5, **options):
    return Problem(learnable_corpus(3, lengths=LENGTHS, **options), random_features(3), c1, c2)


def blocks_of(batch):
    n_blocks = -(-N // batch)
    if n_blocks == N:
        return [[i] for i in range(N)]
    order, bounds = order_of_blocks(N, n_blocks, SEED)
    return [list(order[bounds[b] : bounds[b + 1]]) for b in range(n_blocks)]


def dense_epochs(problem, solver):
    """(w, G, online objective) after each epoch."""
    loss = SequenceLoss(problem.corpus, problem.features, blocks_of(solver.batch_size))
    w, squares, epoch = np.zeros(problem.n_weights), np.zeros(problem.n_weights), 0
    penalty = problem.regularizer.mean_scale(N)
    while True:
        epoch += 1
        order, online = epoch_permutation(SEED, epoch, loss.n), 0.0
        updates = dense_adagrad.adagrad(loss, w, squares, order, solver.eta, *penalty, solver.delta, solver.floor)
        for i, after in zip(order, updates, strict=True):
            w, squares, before = after
            online += before * loss.sizes[i]
        yield np.array(w), np.array(squares), online + problem.regularizer.value(np.array(w))


@pytest.fixture(params=[1, 2], ids=["rows", "rows and cells"])
def threshold(request, monkeypatch):
    monkeypatch.setattr(layout, "dense_threshold", lambda padded: request.param)


@pytest.mark.usefixtures("threshold")
@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
@pytest.mark.parametrize(("delta", "floor", "batch"), [(0.0, 1.0, 1), (1.0, 0.0, 3)])
def test_it_equals_its_dense_reference_for_the_same_order(penalty, delta, floor, batch):
    problem = small_problem(*penalty, values=True, weights=True)
    solver = AdaGrad(eta=0.4, delta=delta, floor=floor, batch_size=batch, seed=SEED)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    assert next(steps).passes == 0
    for step, (w, squares, online) in islice(zip(steps, dense_epochs(problem, solver), strict=True), 5):
        np.testing.assert_allclose(step.weights, w, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(step.weights == 0.0, w == 0.0)
        np.testing.assert_allclose(step.state["squared_gradients"], squares, rtol=1e-12)
        assert step.info["online_objective"] == pytest.approx(online, rel=1e-12)
        assert step.passes == 1
    assert (np.count_nonzero(w) < len(w)) == (penalty[0] > 0.0)


def test_the_calibrated_step_size_is_kept_and_its_passes_are_counted():
    problem = small_problem()
    first, second, third = islice(AdaGrad(eta=None, samples=4).iterate(problem, np.zeros(problem.n_weights)), 3)
    assert first.state["eta"] == 0.0
    assert second.state["eta"] == third.state["eta"] > 0.0
    assert second.passes == pytest.approx(1 + 8 * 2 * 4 / N)  # powers of ten, each trained and scored on the sample
    assert third.passes == 1


def test_calibration_starts_every_trial_from_the_given_squares():
    problem = small_problem()
    state = {**next(AdaGrad().iterate(problem, np.zeros(problem.n_weights))).state}
    state["squared_gradients"] = np.full(problem.n_weights, 3.0)
    steps = AdaGrad(eta=None, samples=4).iterate(problem, np.zeros(problem.n_weights), state)
    np.testing.assert_array_equal(next(steps).state["squared_gradients"], state["squared_gradients"])
    chosen = next(steps)
    direct = AdaGrad(eta=chosen.state["eta"]).iterate(problem, np.zeros(problem.n_weights), state)
    next(direct)
    np.testing.assert_array_equal(chosen.weights, next(direct).weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"eta": 0.0}, "adagrad: eta must be a number above 0; got eta=0.0."),
        ({"delta": -1}, "adagrad: delta must be a number of at least 0; got delta=-1."),
        ({"floor": "low"}, "adagrad: floor must be a number of at least 0; got floor='low'."),
        ({"delta": 0, "floor": 0}, "adagrad: delta and floor are both 0"),
        ({"batch_size": 0}, "adagrad: batch_size must be a whole number of at least 1; got batch_size=0."),
        ({"calibration": "luck"}, "adagrad: calibration must be one of"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        AdaGrad(**options)
