"""Scores of the lab against those of fastcrf.metrics, and the limits of runs against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.decoding.held_out_counts import find_segments, read_marks
from fastcrf.lab.dataset import make_dataset
from fastcrf.lab.limits import Limits, mean_improvement
from fastcrf.lab.scores import NAMES, make_scores
from fastcrf.metrics import segment_scores
from fastcrf.solvers.registry import make
from fastcrf.training.driver import minimize
from reference.toy_sequences import toy_sequences

SCHEMES = (["O", "B-x", "I-x", "B-y", "I-y"], ["O", "B-x", "I-x", "E-x", "S-x", "I-y"], ["B", "I", "O"], ["N", "V"])


@pytest.mark.parametrize("labels", SCHEMES, ids=" ".join)
def test_segments_are_counted_as_by_the_metrics(labels):
    random, marks = np.random.default_rng(0), read_marks(labels)
    for _ in range(30):
        lengths = random.integers(1, 9, 6)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        gold, guess = random.integers(0, len(labels), (2, starts[-1]))
        named = [[[labels[k] for k in side[a:b]] for a, b in itertools.pairwise(starts)] for side in (gold, guess)]
        expected = segment_scores(*named).overall
        there, found = (find_segments(marks, side, starts) for side in (gold, guess))
        assert (len(there), len(found)) == (expected.n_true, expected.n_predicted)
        assert len(np.intersect1d(there, found)) == expected.n_correct


def test_a_gold_label_that_training_never_saw_is_never_right():
    marks, starts = read_marks(["O", "B-x"]), np.array([0, 3])
    there, found = find_segments(marks, np.array([-1, 0, 1]), starts), find_segments(marks, np.array([1, 0, 1]), starts)
    assert (len(there), len(found), len(np.intersect1d(there, found))) == (2, 2, 1)


def test_every_score_is_what_its_definition_says():
    X, y = toy_sequences(40, seed=1)
    dataset = make_dataset("toy", X, y, toy_sequences(10, seed=2))
    problem = dataset.problem(0.0, 0.5, 1)
    weights = minimize(problem, make("lbfgs"), stop=Limits(passes=20).rules()).weights
    scores = {name: score(weights) for name, score in make_scores(dataset, NAMES).items()}
    assert set(scores) == set(NAMES)
    assert scores["active"] == np.count_nonzero(weights)
    assert scores["train_error"] < scores["error"] < 0.5
    gold, found = (dataset.held_out.labels, viterbi(dataset.held_out, dataset.features, weights))
    bounds = [*itertools.pairwise(dataset.held_out.starts)]
    named = [[[dataset.label_names[k] for k in side[a:b]] for a, b in bounds] for side in (gold, found)]
    assert scores["f1"] == pytest.approx(100.0 * segment_scores(*named).overall.f1)
    assert scores["train_f1"] > scores["f1"]
    assert scores["log_loss"] > 0.0
    with pytest.raises(ValueError, match="There is no score 'f2'"):
        make_scores(dataset, ["f2"])


def test_unseen_attributes_do_not_count_and_a_sequence_with_an_unseen_label_has_no_likelihood():
    X, y = toy_sequences(20, seed=1)
    X_test, y_test = toy_sequences(6, seed=2)
    strange = [["never seen", *labels[1:]] if k == 2 else labels for k, labels in enumerate(y_test)]
    more = [[{**item, "never seen": 1.0} for item in sequence] for sequence in X_test]
    others = [k for k in range(6) if k != 2]
    losses = []
    for held_out in ((more, strange), ([X_test[k] for k in others], [y_test[k] for k in others])):
        dataset = make_dataset("toy", X, y, held_out)
        losses.append(make_scores(dataset, ["log_loss"])["log_loss"](np.linspace(-1, 1, dataset.features.n_weights)))
    assert losses[0] == losses[1]


def test_a_set_without_held_out_data_has_scores_of_training_only():
    dataset = make_dataset("toy", *toy_sequences(10, seed=1))
    assert set(make_scores(dataset, NAMES)) == {"active", "train_error", "train_f1"}


def test_the_mean_improvement_is_that_of_andrew_and_gao():
    values = [100.0, 90.0, 81.0, 75.0, 72.0, 71.0]
    assert mean_improvement(values) is None
    assert mean_improvement([*values, 70.0]) == pytest.approx((100.0 - 70.0) / 6 / 70.0)
    falling = [2.0**-k for k in range(12)]
    assert mean_improvement(falling) == pytest.approx((falling[1] - falling[11]) / 9 / falling[11])


@pytest.mark.parametrize(
    "limits",
    [Limits(tol=None, slope=0.05), Limits(tol=None, improvement=1e-4), Limits(tol=None, epochs=4)],
    ids=["slope", "improvement", "epochs"],
)
def test_runs_end_by_slope_by_improvement_and_by_epochs(limits):
    problem = make_dataset("toy", *toy_sequences(40, seed=1)).problem(0.0, 0.5, 1)
    result = minimize(problem, make("lbfgs"), stop=limits.rules(), measure=True)
    if limits.slope:
        assert np.abs(problem.gradient(result.weights)[1]).max() <= limits.slope
    if limits.improvement:
        ends = [limits.ending_at(row, result.trace[:k]) for k, row in enumerate(result.trace)]
        assert ends[-1].status == "converged"
        assert not any(ends[:-1])
    if limits.epochs:
        assert result.n_steps == 4
        assert limits.ending_at(result.trace[-1], result.trace[:-1]).status == "out of epochs"
