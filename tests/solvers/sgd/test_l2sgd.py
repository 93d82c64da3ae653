"""l2sgd is CRFsuite's: with its random orders, epoch by epoch and weight by weight; with ours, as good."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.compat.sklearn_crfsuite import CRF as DropIn
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd import run as sgd_run
from fastcrf.solvers.sgd.l2sgd import L2SGD
from reference import crfsuite_model, crfsuite_shuffles
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_sequences import toy_sequences

SEED = 5
N = 150


@pytest.fixture(scope="module")
def toy():
    return toy_sequences(N, seed=3)


def crfsuite(toy, folder, **params):
    if not crfsuite_shuffles.AVAILABLE:
        pytest.skip("needs the C library's rand()")
    crfsuite_shuffles.seed(SEED)
    dotted = {name.replace("calibration_", "calibration."): value for name, value in params.items()}
    return crfsuite_model.train(*toy, folder, algorithm="l2sgd", **dotted)


@pytest.fixture
def same_orders(monkeypatch):
    """Our epochs take CRFsuite's random orders: the first for calibration, then one an epoch."""
    if crfsuite_shuffles.AVAILABLE:
        orders = crfsuite_shuffles.orders(SEED, N, 80)

        def order(seed, epoch, n):
            return orders[epoch] if n == N else np.arange(n)  # the warm-up is smaller

        monkeypatch.setattr(sgd_run, "epoch_permutation", order)


def losses(log):
    return [iteration["loss"] for iteration in log.iterations]


def assert_same_weights(crf, peer):
    for ours, theirs in ((crf.state_features_, peer.states), (crf.transition_features_, peer.transitions)):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("samples", [60, 1000])
@pytest.mark.parametrize("c2", [1.0, 0.05])
@pytest.mark.parametrize("epochs", [6, 7])
def test_it_equals_crfsuite_for_the_same_random_orders(toy, tmp_path, same_orders, samples, c2, epochs):
    """For c2=1 and 60 samples the sixth epoch is better than the seventh, so it is returned in either case."""
    options = {"max_iterations": epochs, "c2": c2, "calibration_samples": samples}
    peer = crfsuite(toy, tmp_path, **options)
    crf = DropIn("l2sgd", **options).fit(*toy)
    assert losses(crf.training_log_) == pytest.approx(losses(peer), abs=2e-6)  # six decimals
    assert_same_weights(crf, peer)


@pytest.mark.parametrize(("period", "delta"), [(3, 1e-2), (10, 1e-3), (1, 1e-3)])
def test_it_stops_when_crfsuite_stops(toy, tmp_path, same_orders, period, delta):
    peer = crfsuite(toy, tmp_path, period=period, delta=delta, max_iterations=79)
    crf = DropIn("l2sgd", period=period, delta=delta, max_iterations=79).fit(*toy)
    assert 0 < len(peer.iterations) < 79
    assert len(crf.training_log_.iterations) == len(peer.iterations)
    assert "SGD terminated with the stopping criteria" in "".join(crf.training_log_.log)
    assert_same_weights(crf, peer)


def test_with_our_own_random_orders_it_is_as_good_as_crfsuite(tmp_path):
    tokens, labels = make_addresses(400)
    items = [address_items(sequence) for sequence in tokens]
    train, test = (items[:300], labels[:300]), (items[300:], labels[300:])
    options = {"max_iterations": 20, "c2": 0.1}
    peer = crfsuite_model.train(*train, tmp_path, algorithm="l2sgd", **options)
    crf = DropIn("l2sgd", **options).fit(*train)
    assert losses(crf.training_log_)[-1] == pytest.approx(losses(peer)[-1], rel=0.02)
    tagged = [peer.tagger.tag(sequence) for sequence in test[0]]
    right = sum(a == b for ours, gold in zip(tagged, test[1], strict=True) for a, b in zip(ours, gold, strict=True))
    assert crf.score(*test) == pytest.approx(right / sum(map(len, test[1])), abs=0.01)


def problem_of(toy, c2=1.0):
    corpus, ids, labels = encode_training(*toy)
    return Problem(corpus, build_feature_map(corpus, len(ids), len(labels)), c2=c2)


def test_a_step_has_the_weights_of_the_best_epoch_so_far_and_the_memory_of_the_last(toy, same_orders):
    problem = problem_of(toy)
    best, lowest, worse = None, np.inf, 0
    for step in islice(L2SGD(calibration_samples=60).iterate(problem, np.zeros(problem.n_weights)), 1, 12):
        if step.info["online_objective"] < lowest:
            best, lowest = step.state["weights"].copy(), step.info["online_objective"]
        else:
            worse += 1
            assert not np.array_equal(step.state["weights"], step.weights)
        np.testing.assert_array_equal(step.weights, best)
        assert step.state["best_objective"] == lowest
    assert worse > 0


def test_before_the_end_of_the_first_epoch_the_best_weights_are_the_start(monkeypatch):
    problem = Problem(learnable_corpus(0, lengths=(3, 2, 3, 1)), random_features(0), c2=1.0)
    monkeypatch.setattr(Problem, "slice_size", 2)
    problem.asked_to_stop = lambda: True
    start = np.random.default_rng(0).normal(size=problem.n_weights)
    steps = L2SGD().iterate(problem, start.copy())
    for expected in (True, True, False):
        step = next(steps)
        assert np.array_equal(step.weights, start) == expected
    assert "online_objective" in step.info


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"calibration_eta": 0}, "l2sgd: calibration_eta must be a number above 0; got calibration_eta=0."),
        ({"calibration_rate": -2.0}, "l2sgd: calibration_rate must be a number above 0"),
        ({"calibration_samples": 0}, "l2sgd: calibration_samples must be a whole number of at least 1"),
        ({"calibration_candidates": 0}, "l2sgd: calibration_candidates must be a whole number of at least 1"),
        ({"calibration_max_trials": 0}, "l2sgd: calibration_max_trials must be a whole number of at least 1"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        L2SGD(**options)
