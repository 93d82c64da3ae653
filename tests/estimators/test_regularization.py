"""Paths of penalties, and the choice among them by cross-validation."""

from __future__ import annotations

import doctest
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from fastcrf import CRF, CRFCV, regularization_path
from fastcrf.core.types import Corpus
from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.displays import RegularizationPathDisplay
from fastcrf.exceptions import DataError, PenaltyError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.plan import make_plan
from fastcrf.fitting.regularization_path import follow_path, known_part, largest_useful_c1, problem_of_path, start_at
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, EarlyStopping, MaxIterations
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus, random_features

TOKENS, LABELS = make_addresses(60, 0)
X = [[[f"w={token}", f"suffix={token[-2:]}", "bias"] for token in address] for address in TOKENS]


def small_problem():
    return Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), 0.0, 1.0)


@pytest.mark.parametrize("along", [[(0.0, 3.0), (0.0, 1.0), (0.0, 0.2)], [(2.0, 0.1), (0.5, 0.1), (0.0, 0.1)]])
def test_the_path_ends_where_cold_fits_end(along):
    problem = small_problem()
    for point in follow_path(problem, along, partial(make_plan, tol=1e-7)):
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


@pytest.mark.parametrize("grid", [{"c2_values": [2.0, 0.3]}, {"c1_values": [1.0, 0.2]}, {"c1_values": 3}])
def test_a_path_of_merged_attributes_has_the_optima_of_the_data_as_they_are(monkeypatch, grid):
    base = CRF(c2=0.1 if "c1_values" in grid else 0.0, tol=1e-9)
    merged = regularization_path(X, LABELS, estimator=base, **grid)
    monkeypatch.setattr("fastcrf.fitting.problem_choice.merge_equal", lambda *data: None)
    whole = regularization_path(X, LABELS, estimator=base, **grid)
    np.testing.assert_allclose(merged.c1, whole.c1, rtol=1e-12)
    np.testing.assert_allclose(merged.objective, whole.objective, rtol=3e-9)
    for k in range(len(grid)):
        found, expected = merged.model(k).state_features_, whole.model(k).state_features_
        assert found == pytest.approx(expected, abs=5e-3)  # sqrt(gap / c2) each


def test_what_is_carried_over_counts_c1_as_often_as_attributes_are_merged():
    corpus, attributes, labels = encode_training(X, LABELS)
    problem = problem_of_path(Auto(), corpus, build_feature_map(corpus, len(attributes), len(labels)), 0.1, 1)
    assert len(problem.c1_factors)
    before, now = problem.with_penalty(1.0, 0.1), problem.with_penalty(0.3, 0.2)
    state = minimize(before, Auto(), stop=[MaxIterations(6)]).state
    assert Auto().carried(state, before, now)["value"] == pytest.approx(now.value(state["weights"]), rel=1e-12)


def test_a_warm_path_takes_less_than_cold_fits():
    problem = small_problem()
    along = [(0.0, c2) for c2 in np.geomspace(10, 0.01, 10)]
    warm = sum(point.passes for point in follow_path(problem, along, partial(make_plan, tol=1e-4)))
    cold = sum(follow_path(problem, [penalty], partial(make_plan, tol=1e-4))[0].passes for penalty in along)
    assert warm < 0.8 * cold


def test_at_the_largest_useful_c1_every_weight_is_zero_and_just_below_one_is_not():
    problem = small_problem()
    top = largest_useful_c1(problem)
    at, below = follow_path(problem, [(top * 1.0001, 0.0), (top * 0.97, 0.0)], partial(make_plan, tol=1e-6))
    assert at.n_nonzero == 0 < below.n_nonzero


def test_path_has_scores_and_models_from_the_strongest_penalty_to_the_weakest():
    path = regularization_path(X[:40], LABELS[:40], c2_values=[0.1, 10.0, 1.0], X_dev=X[40:], y_dev=LABELS[40:])
    assert path.c2.tolist() == [10.0, 1.0, 0.1]
    assert len(path) == 3
    assert (path.relative_gap <= 1e-3).all()
    for k, c2 in enumerate(path.c2):
        crf = CRF(c2=c2, tol=1e-6).fit(X[:40], LABELS[:40])
        assert path.scores["accuracy"][k] == pytest.approx(crf.score(X[40:], LABELS[40:]), abs=0.03)
        assert path.model(k).predict(X[40:42]) == crf.predict(X[40:42])
    assert path.scores["likelihood"].max() < 0.0
    assert ((path.scores["segment_f1"] > 0.0) & (path.scores["segment_f1"] <= 1.0)).all()


def test_a_number_of_c1_values_goes_from_none_to_many_active_weights():
    path = regularization_path(X[:40], LABELS[:40], estimator=CRF(c2=0.01), c1_values=4)
    assert path.n_nonzero[0] == 0
    assert (np.diff(path.n_nonzero) > 0).all()


def test_a_path_goes_along_one_penalty():
    with pytest.raises(ValueError, match="A path goes along c1_values or c2_values, not both"):
        regularization_path(X, LABELS, c1_values=[1.0], c2_values=[1.0])
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        regularization_path(X, LABELS, X_dev=X)


@pytest.mark.parametrize("scoring", ["likelihood", "accuracy", "segment_f1"])
def test_cross_validation_chooses_the_best_mean_score_and_trains_with_it(scoring):
    search = CRFCV(CRF(tol=1e-3), c2_values=[30.0, 1.0, 0.03], cv=3, scoring=scoring).fit(X, LABELS)
    assert search.scores_.shape == (3, 3)
    best = search.scores_.mean(axis=1)
    assert search.best_score_ == best.max()
    assert (search.c1_, search.c2_) == (0.0, search.c2_values_[best.argmax()])
    assert search.best_estimator_.c2 == search.c2_
    assert search.predict(X[:2]) == search.best_estimator_.predict(X[:2])
    assert search.score(X, LABELS) > 0.8


def test_scores_of_a_fold_are_those_of_a_fit_without_it():
    search = CRFCV(CRF(tol=1e-6), c2_values=[1.0], cv=3, scoring="accuracy").fit(X, LABELS)
    kept, held = search._folds(X, LABELS)[1]
    alone = CRF(c2=1.0, tol=1e-6).fit([X[i] for i in kept], [LABELS[i] for i in kept])
    expected = alone.score([X[i] for i in held], [LABELS[i] for i in held])
    assert search.scores_[0, 1] == pytest.approx(expected, abs=1e-12)


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
    known = regularization_path(X[:40], LABELS[:40], c2_values=[1.0], X_dev=X_dev, y_dev=y_dev)
    mixed = regularization_path(X[:40], LABELS[:40], c2_values=[1.0], X_dev=strange_X, y_dev=strange_y)
    n = sum(map(len, y_dev))
    assert mixed.scores["accuracy"][0] == pytest.approx(known.scores["accuracy"][0] * n / (n + 10))
    assert mixed.scores["likelihood"][0] == known.scores["likelihood"][0]
    assert 0.0 < mixed.scores["segment_f1"][0] < known.scores["segment_f1"][0]


def test_displays_of_a_path_and_of_a_search():
    pytest.importorskip("matplotlib").use("Agg")
    path = regularization_path(X[:20], LABELS[:20], estimator=CRF(c2=0.1), c1_values=[1.0, 0.1])
    display = RegularizationPathDisplay.from_path(path)
    assert display.ax_.get_xlabel() == "penalty c1"
    assert display.lines_[0].get_ydata().tolist() == path.n_nonzero.tolist()
    search = CRFCV(c2_values=[1.0, 0.1], cv=2).fit(X[:20], LABELS[:20])
    display = RegularizationPathDisplay.from_estimator(search)
    assert (display.name, len(display.lines_)) == ("c2", 1)


def test_folds_respect_the_template_and_all_other_parameters():
    """One fold is trained as CRF trains, so that the scores are equal to the last digits."""
    rows = [[[token, token[-1:]] for token in address] for address in TOKENS]
    base = CRF(
        "lbfgs", template="U:%x[0,0]\nU:%x[-1,1]/%x[0,1]\nB\n", order=2, boundaries=True, min_count=2,
        all_possible_transitions=True, tol=1e-6, n_jobs=1,
    )  # fmt: skip
    fold = list(range(20, 60)), list(range(20))
    search = CRFCV(base, c2_values=[0.3], cv=[fold], scoring="accuracy", refit=False).fit(rows, LABELS)
    alone = clone(base).set_params(c2=0.3).fit(rows[20:], LABELS[20:])
    assert search.scores_[0, 0] == pytest.approx(alone.score(rows[:20], LABELS[:20]), abs=1e-12)
    assert search.n_nonzero_[0] == len(alone.model_.weights)


def test_a_path_respects_the_template_and_its_models_are_saved_with_it(tmp_path):
    rows = [[[token, token[-1:]] for token in address] for address in TOKENS]
    base = CRF(template="U:%x[0,0]\nB\n", tol=1e-6)
    path = regularization_path(rows, LABELS, estimator=base, c2_values=[1.0, 0.1])
    path.model(1).save(tmp_path / "model.crf")
    again = CRF.load(tmp_path / "model.crf")
    expected = clone(base).set_params(c2=0.1).fit(rows, LABELS)
    assert again.predict(rows) == expected.predict(rows)
    assert again.model_.input == expected.model_.input


def test_the_algorithm_and_the_limits_of_the_estimator_apply_to_each_penalty():
    calls = []
    base = CRF("sag", max_iterations=3, callbacks=[calls.append], tol=None, n_jobs=1)
    path = regularization_path(X, LABELS, estimator=base, c2_values=[1.0, 0.1])
    assert len(path) == 2
    assert [row["step"] for row in calls] == [0, 1, 2, 3] * 2
    with pytest.raises(PenaltyError, match="owlqn requires an L1 penalty"):
        regularization_path(X, LABELS, estimator=CRF("owlqn"), c2_values=[1.0])
    with pytest.raises(ValueError, match=r"remove EarlyStopping\(.*\) from stopping"):
        regularization_path(X, LABELS, estimator=CRF(stopping=[EarlyStopping(2)]))


@pytest.mark.parametrize("algorithm", ["sag", "sag-nus-star", "saga", "prox-saga"])
def test_stored_gradients_are_carried_along_c2(algorithm):
    """Footnote 1 of Schmidt et al. (2015): the next penalty begins with g_i, d and m, without a pass."""
    problem, solver = small_problem(), make(algorithm, seed=0)
    before = minimize(problem, solver, stop=[MaxIterations(5)])
    now = problem.with_penalty(0.0, 0.1)
    warm = minimize(now, solver, **start_at(before, solver, problem, now), stop=[MaxIterations(1)])
    assert warm.trace[0]["passes"] == 0.0
    weights_only = minimize(now, solver, before.weights, stop=[MaxIterations(1)])
    assert weights_only.trace[0]["passes"] == 1.0  # fills its stored gradients first
    end = minimize(now, solver, **start_at(before, solver, problem, now), stop=[CertifiedGap(1e-6), MaxIterations(900)])
    cold = minimize(now, Auto(), stop=[CertifiedGap(1e-8), MaxIterations(1000)])
    assert end.certificate.objective == pytest.approx(cold.certificate.objective, rel=2e-6)


def test_a_path_by_sag_takes_fewer_passes_with_its_stored_gradients():
    given = {"estimator": CRF("sag-nus-star", tol=1e-4, max_iterations=500), "c2_values": [5.0, 1.0, 0.2]}
    path = regularization_path(X, LABELS, **given)
    cold = [CRF("sag-nus-star", c2=c2, tol=1e-4, max_iterations=500).fit(X, LABELS) for c2 in given["c2_values"]]
    assert sum(path.passes) < sum(crf.history_[-1]["passes"] for crf in cold)
    assert path.objective == pytest.approx([crf.history_[-1]["objective"] for crf in cold], rel=2e-4)


def test_a_dual_solver_starts_each_penalty_at_its_own_start():
    path = regularization_path(X, LABELS, estimator=CRF("sdca", tol=1e-2), c2_values=[1.0, 0.5])
    assert (path.relative_gap <= 1e-2).all()


def test_cv_takes_a_splitter_and_weights_of_sequences():
    splitter = KFold(4, shuffle=True, random_state=1)
    search = CRFCV(c2_values=[1.0], cv=splitter, refit=False).fit(X, LABELS)
    assert search.scores_.shape == (1, 4)
    fold = next(iter(splitter.split(X)))
    again = CRFCV(c2_values=[1.0], cv=[fold], refit=False).fit(X, LABELS)
    assert again.scores_[0, 0] == pytest.approx(search.scores_[0, 0])
    weights = np.ones(len(X))
    weights[fold[0][::2]] = 0.0
    weighted = CRFCV(c2_values=[1.0], cv=[fold], refit=False).fit(X, LABELS, sample_weight=weights)
    kept = np.setdiff1d(fold[0], fold[0][::2])
    without = CRFCV(c2_values=[1.0], cv=[(kept, fold[1])], refit=False).fit(X, LABELS)
    assert weighted.scores_[0, 0] < search.scores_[0, 0]
    assert weighted.scores_[0, 0] == pytest.approx(without.scores_[0, 0], abs=0.05)
    with pytest.raises(DataError, match="sample_weight has 3 elements"):
        CRFCV().fit(X, LABELS, sample_weight=[1.0] * 3)


def test_held_out_sequences_without_a_known_label_have_no_likelihood():
    X, y = [[["a"]], [["b"]]], [["p"], ["q"]]
    with pytest.raises(DataError, match="has a label that is not in the training data"):
        CRFCV(c2_values=[1.0], cv=2, n_jobs=1).fit(X, y)
    assert CRFCV(c2_values=[1.0], cv=2, scoring="accuracy", n_jobs=1).fit(X, y).best_score_ == 0.0


def test_y_must_be_as_long_as_x():
    with pytest.raises(DataError, match="X has 60 sequences and y has 59 elements"):
        CRFCV().fit(X, LABELS[:-1])


@pytest.mark.parametrize("thing", [CRFCV, regularization_path], ids=lambda thing: thing.__name__)
def test_the_examples_in_the_docstring_run(thing):
    (examples,) = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__, globs={})
    assert doctest.DocTestRunner().run(examples) == (0, len(examples.examples))


def test_without_refit_there_is_no_model(tmp_path):
    search = CRFCV(c2_values=[1.0, 0.1], cv=2, refit=False)
    with pytest.raises(NotFittedError, match=r"call fit, or CRFCV\.load"):
        search.predict(X)
    search.fit(X, LABELS)
    with pytest.raises(NotFittedError, match="set refit=True"):
        search.predict(X)
    search.set_params(refit=True).fit(X, LABELS).save(tmp_path / "model.crf")
    again = CRFCV.load(tmp_path / "model.crf")
    assert again.predict(X) == search.predict(X)
    assert (again.c1_, again.c2_) == (search.c1_, search.c2_)
    assert again.best_estimator_.get_params() == search.best_estimator_.get_params()
