"""Paths of penalties, and the choice among them by cross-validation."""

from __future__ import annotations

import numpy as np
import pytest

import fastcrf
from fastcrf import CRF, CRFCV
from fastcrf.core.types import Corpus
from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.displays import RegularizationPathDisplay
from fastcrf.features.feature_map import build_feature_map
from fastcrf.fitting.regularization_path import follow_path, known_part, largest_useful_c1, problem_of_path
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto.auto import Auto
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus, random_features

TOKENS, LABELS = make_addresses(60, 0)
X = [[[f"w={token}", f"suffix={token[-2:]}", "bias"] for token in address] for address in TOKENS]


def small_problem():
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), 0.0, 1.0)


@pytest.mark.parametrize("along", [[(0.0, 3.0), (0.0, 1.0), (0.0, 0.2)], [(2.0, 0.1), (0.5, 0.1), (0.0, 0.1)]])
def test_the_path_ends_where_cold_fits_end(along):
    problem = small_problem()
    for point in follow_path(problem, along, tol=1e-7):
        cold = minimize(
            problem.with_penalty(point.c1, point.c2), Auto(), stop=[CertifiedGap(1e-7), MaxIterations(1000)]
        )
        assert point.relative_gap <= 1e-7
        assert point.objective == pytest.approx(cold.certificate.objective, rel=3e-7)


@pytest.mark.parametrize("to", [(0.0, 0.2), (0.7, 2.0), (0.7, 0.0)])
def test_what_is_carried_over_is_what_would_have_been_evaluated(to):
    problem, solver = small_problem(), Auto()
    state = minimize(problem, solver, stop=[MaxIterations(6)]).state
    now = problem.with_penalty(*to)
    carried = solver.carried(state, problem, now)
    value, gradient = now.gradient(state["weights"])
    assert carried["value"] == pytest.approx(value + now.c1 * np.abs(state["weights"]).sum(), rel=1e-12)
    np.testing.assert_allclose(carried["gradient"], gradient, atol=1e-9)
    s, y = (carried["basis"][k] for k in (0, 1))
    s_before, y_before = (state["basis"][k] for k in (0, 1))
    scale = state["scale"]
    np.testing.assert_array_equal(s, s_before)
    np.testing.assert_allclose(y / scale, y_before / scale + 2 * (now.c2 - 1.0) * s * scale, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(carried["gram"][0, 1], float(s.astype(float) @ y.astype(float)), rtol=1e-6)


@pytest.mark.parametrize(
    "options", [{"c2_values": [2.0, 0.3]}, {"c1_values": [1.0, 0.2], "c2": 0.1}, {"c1_values": 3, "c2": 0.1}]
)
def test_a_path_of_merged_attributes_has_the_optima_of_the_data_as_they_are(monkeypatch, options):
    merged = fastcrf.path(X, LABELS, tol=1e-9, **options)
    monkeypatch.setattr("fastcrf.fitting.problem_choice.merge_equal", lambda *data: None)
    whole = fastcrf.path(X, LABELS, tol=1e-9, **options)
    np.testing.assert_allclose(merged.c1, whole.c1, rtol=1e-12)
    np.testing.assert_allclose(merged.objective, whole.objective, rtol=3e-9)
    for point, expected in zip(merged.points, whole.points, strict=True):
        np.testing.assert_allclose(point.weights, expected.weights, atol=5e-3)  # sqrt(gap / c2) each


def test_what_is_carried_over_counts_c1_as_often_as_attributes_are_merged():
    corpus, attributes, labels = encode_training(X, LABELS)
    problem = problem_of_path(corpus, build_feature_map(corpus, len(attributes), len(labels)), 0.1, 1)
    assert len(problem.c1_factors)
    before, now = problem.with_penalty(1.0, 0.1), problem.with_penalty(0.3, 0.2)
    state = minimize(before, Auto(), stop=[MaxIterations(6)]).state
    assert Auto().carried(state, before, now)["value"] == pytest.approx(now.value(state["weights"]), rel=1e-12)


def test_a_warm_path_takes_less_than_cold_fits():
    problem = small_problem()
    along = [(0.0, c2) for c2 in np.geomspace(10, 0.01, 10)]
    warm = sum(point.passes for point in follow_path(problem, along, tol=1e-4))
    cold = sum(follow_path(problem, [penalty], tol=1e-4)[0].passes for penalty in along)
    assert warm < 0.8 * cold


def test_at_the_largest_useful_c1_every_weight_is_zero_and_just_below_one_is_not():
    problem = small_problem()
    top = largest_useful_c1(problem)
    at, below = follow_path(problem, [(top * 1.0001, 0.0), (top * 0.97, 0.0)], tol=1e-6)
    assert at.active == 0 < below.active


def test_path_has_scores_and_models_from_the_strongest_penalty_to_the_weakest():
    path = fastcrf.path(X[:40], LABELS[:40], c2_values=[0.1, 10.0, 1.0], X_dev=X[40:], y_dev=LABELS[40:], tol=1e-3)
    assert path.c2.tolist() == [10.0, 1.0, 0.1]
    assert len(path) == 3
    assert (path.relative_gap <= 1e-3).all()
    for k, c2 in enumerate(path.c2):
        crf = CRF(c2=c2, tol=1e-6).fit(X[:40], LABELS[:40])
        assert path.scores["accuracy"][k] == pytest.approx(crf.score(X[40:], LABELS[40:]), abs=0.03)
        assert path.model(k).tag(X[40:42]) == crf.predict(X[40:42])
    assert path.scores["likelihood"].max() < 0.0
    assert ((path.scores["segment_f1"] > 0.0) & (path.scores["segment_f1"] <= 1.0)).all()


def test_a_number_of_c1_values_goes_from_none_to_many_active_weights():
    path = fastcrf.path(X[:40], LABELS[:40], c1_values=4, c2=0.01)
    assert path.active[0] == 0
    assert (np.diff(path.active) > 0).all()


def test_a_path_goes_along_one_penalty():
    with pytest.raises(ValueError, match="A path goes along c1_values or c2_values, not both"):
        fastcrf.path(X, LABELS, c1_values=[1.0], c2_values=[1.0])
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        fastcrf.path(X, LABELS, X_dev=X)


@pytest.mark.parametrize("scoring", ["likelihood", "accuracy", "segment_f1"])
def test_cross_validation_chooses_the_best_mean_score_and_trains_with_it(scoring):
    search = CRFCV(CRF(tol=1e-3), c2_values=[30.0, 1.0, 0.03], cv=3, scoring=scoring).fit(X, LABELS)
    assert search.cv_scores_.shape == (3, 3)
    best = search.cv_scores_.mean(axis=1)
    assert search.best_score_ == best.max()
    assert (search.c1_, search.c2_) == (0.0, search.c2_values_[best.argmax()])
    assert search.best_estimator_.c2 == search.c2_
    assert search.predict(X[:2]) == search.best_estimator_.predict(X[:2])
    assert search.score(X, LABELS) > 0.8


def test_scores_of_a_fold_are_those_of_a_fit_without_it():
    search = CRFCV(CRF(tol=1e-6), c2_values=[1.0], cv=3, scoring="accuracy").fit(X, LABELS)
    held = search._folds(len(X))[1]
    kept = [i for i in range(len(X)) if i not in held]
    alone = CRF(c2=1.0, tol=1e-6).fit([X[i] for i in kept], [LABELS[i] for i in kept])
    expected = alone.score([X[i] for i in held], [LABELS[i] for i in held])
    assert search.cv_scores_[0, 1] == pytest.approx(expected, abs=1e-12)


def test_what_cannot_be_is_one_sentence():
    with pytest.raises(ValueError, match="scoring must be one of likelihood, accuracy, segment_f1"):
        CRFCV(scoring="f1").fit(X, LABELS)
    with pytest.raises(ValueError, match="cv must be a whole number of at least 2"):
        CRFCV(cv=1).fit(X, LABELS)
    with pytest.raises(ValueError, match="cv=9 needs at least as many sequences; there are 4"):
        CRFCV(cv=9).fit(X[:4], LABELS[:4])


def test_unknown_attributes_and_labels_are_left_out_of_the_likelihood():
    corpus = Corpus(
        starts=np.array([0, 2, 3]),
        offsets=np.array([0, 2, 3, 4]),
        attributes=np.array([0, -1, 2, 1], np.int32),
        values=np.zeros(0),
        labels=np.array([0, 1, -1], np.int32),
        weights=np.zeros(0),
    )
    known = known_part(corpus)
    assert known.n_sequences == 1
    assert known.attributes.tolist() == [0, 2]
    assert known.offsets.tolist() == [0, 1, 2]


def test_unknown_labels_of_held_out_data_count_as_wrong_and_not_for_the_likelihood():
    """Ten tokens with a label that training never saw are ten more errors, and a segment more that is missed.

    They look like tokens of the last label, so that they are not taken for it.
    """
    X_dev, y_dev = X[40:44], LABELS[40:44]
    last = list(dict.fromkeys(label for labels in LABELS[:40] for label in labels))[-1]
    item = next(
        item
        for items, labels in zip(X, LABELS, strict=True)
        for item, label in zip(items, labels, strict=True)
        if label == last
    )
    strange_X, strange_y = [*X_dev, [item] * 10], [*y_dev, ["Strange"] * 10]
    known = fastcrf.path(X[:40], LABELS[:40], c2_values=[1.0], X_dev=X_dev, y_dev=y_dev)
    mixed = fastcrf.path(X[:40], LABELS[:40], c2_values=[1.0], X_dev=strange_X, y_dev=strange_y)
    n = sum(map(len, y_dev))
    assert mixed.scores["accuracy"][0] == pytest.approx(known.scores["accuracy"][0] * n / (n + 10))
    assert mixed.scores["likelihood"][0] == known.scores["likelihood"][0]
    assert 0.0 < mixed.scores["segment_f1"][0] < known.scores["segment_f1"][0]


def test_displays_of_a_path_and_of_a_search():
    pytest.importorskip("matplotlib").use("Agg")
    path = fastcrf.path(X[:20], LABELS[:20], c1_values=[1.0, 0.1], c2=0.1)
    display = RegularizationPathDisplay.from_path(path)
    assert display.ax_.get_xlabel() == "c1"
    assert display.lines_[0].get_ydata().tolist() == path.active.tolist()
    search = CRFCV(c2_values=[1.0, 0.1], cv=2).fit(X[:20], LABELS[:20])
    display = RegularizationPathDisplay.from_estimator(search)
    assert (display.name, len(display.lines_)) == ("c2", 1)
