"""CRF: parameters, fit, prediction, fitted attributes, files, warnings."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from collections import Counter

import numpy as np
import pytest
import sklearn_crfsuite
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from fastcrf import CRF, load
from fastcrf.estimators import sklearn_conventions as sklearn_conventions
from fastcrf.exceptions import DataError
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
X_DEV, Y_DEV = toy_sequences(15, seed=1)


@pytest.fixture(scope="module")
def crf():
    return CRF(n_jobs=1).fit(X, Y)


def parameter_names(cls, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD):
    return [name for name, parameter in inspect.signature(cls).parameters.items() if parameter.kind == kind]


def test_the_first_28_parameters_are_those_of_sklearn_crfsuite_in_its_order():
    assert parameter_names(CRF) == parameter_names(sklearn_crfsuite.CRF)
    assert len(parameter_names(CRF)) == 28


def test_our_own_parameters_are_by_keyword():
    assert parameter_names(CRF, inspect.Parameter.KEYWORD_ONLY) == [
        "tol",
        "gradient_tol",
        "mean_gradient_tol",
        "max_passes",
        "patience",
        "n_jobs",
        "random_state",
        "warm_start",
        "callbacks",
        "crfsuite_compat",
        "template",
        "prior",
        "expected_sequences",
        "engine",
        "order",
        "boundaries",
    ]


def test_the_constructor_stores_whatever_it_gets_and_fit_changes_none_of_it():
    solver, callbacks = LBFGS(pairs=3), [lambda row: None]
    crf = CRF(solver, c2=0.5, callbacks=callbacks, trainer_cls=object, keep_tempfiles=True, n_jobs=2)
    before = crf.get_params()
    assert vars(crf) == before
    assert CRF(c1="nonsense").c1 == "nonsense"
    crf.fit(X, Y)
    assert crf.get_params() == before
    assert all(value is before[name] for name, value in crf.get_params().items())


def test_fit_returns_the_estimator_and_predict_gives_a_list_of_lists(crf):
    predicted = crf.predict(X)
    assert isinstance(predicted, list)
    assert [len(labels) for labels in predicted] == [len(x) for x in X]
    assert predicted[3] == crf.predict_single(X[3])
    assert json.loads(json.dumps(predicted)) == predicted


def test_numpy_sees_a_list_of_labels_as_one_dimension_even_where_lengths_agree(crf):
    for some in ([X[0], X[0]], X):
        assert np.asarray(crf.predict(some)).shape == (len(some),)
        assert np.asarray(crf.predict_marginals(some)).shape == (len(some),)


def test_marginals_are_probabilities_of_every_label(crf):
    marginals = crf.predict_marginals(X)
    assert marginals[3] == crf.predict_marginals_single(X[3])
    for rows in marginals:
        for row in rows:
            assert list(row) == crf.classes_
            assert sum(row.values()) == pytest.approx(1.0)


def test_score_is_token_accuracy(crf):
    pairs = [pair for labels in zip(Y, crf.predict(X), strict=True) for pair in zip(*labels, strict=True)]
    assert crf.score(X, Y) == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_empty_sequences_have_no_labels_and_train_nothing(crf):
    assert crf.predict([[], X[0], []]) == [[], crf.predict_single(X[0]), []]
    assert crf.predict_single([]) == crf.predict_marginals_single([]) == []
    assert crf.predict([]) == []
    with_empty = CRF(n_jobs=1).fit([[], *X, []], [[], *Y, []])
    assert with_empty.state_features_ == crf.state_features_


def test_generators_are_read_once():
    crf = CRF(n_jobs=1).fit((iter(x) for x in X), (iter(y) for y in Y))
    assert crf.predict(iter(x) for x in X) == CRF(n_jobs=1).fit(X, Y).predict(X)


def test_labels_come_back_as_they_were_given_in_order_of_first_appearance():
    kinds = {"O": 3, "B": ("begin", 1), "I": True}
    labels = [[kinds[label] for label in sequence] for sequence in Y]
    crf = CRF(n_jobs=1).fit(X, labels)
    first_seen = list(dict.fromkeys(label for sequence in labels for label in sequence))
    assert crf.classes_ == first_seen
    assert {label for sequence in crf.predict(X) for label in sequence} <= set(first_seen)


def test_fitted_attributes_describe_the_model(crf):
    assert {"word:blue", "upper", "length", "bias", "before:word:blue"} <= set(crf.attributes_)
    assert crf.num_attributes_ == len(crf.attributes_)
    assert crf.size_ == len(crf.to_bytes())
    assert {name for name, _ in crf.state_features_} == set(crf.attributes_)
    assert {label for pair in crf.transition_features_ for label in pair} <= set(crf.classes_)
    assert len(crf.state_features_) + len(crf.transition_features_) == len(crf.model_.weights)


def test_history_begins_at_the_start_and_ends_at_the_returned_weights(crf):
    rows = crf.history_
    assert [row["step"] for row in rows] == list(range(crf.n_iter_ + 1))
    assert rows[-1]["objective"] == crf.certificate_.objective < rows[0]["objective"]
    for column in ("passes", "seconds", "wall"):
        assert np.all(np.diff([row[column] for row in rows]) >= 0)
    assert rows[-1]["seconds"] <= rows[-1]["wall"]
    assert rows[-1]["gradient_norm"] < rows[0]["gradient_norm"]
    assert rows[-1]["trials"] >= 1
    assert crf.training_log_.last_iteration["loss"] == rows[-1]["objective"]


def test_converged_says_that_the_goal_was_met(crf):
    assert crf.converged_
    assert crf.certificate_.relative_gap <= 1e-3
    assert crf.stop_reason_.startswith("The certified relative gap")


def test_stopping_early_warns_once_at_each_place():
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        for some in (X, X[:20]):
            crf = CRF(max_iterations=2, n_jobs=1).fit(some, Y[: len(some)])
        crf = CRF(max_iterations=2, n_jobs=1).fit(X, Y)
    first, second = record
    assert "before its goal: raise the limit, or loosen tol" in str(first.message)
    assert {first.category, second.category} == {ConvergenceWarning}
    assert first.filename == second.filename == __file__
    assert first.lineno != second.lineno
    assert crf.stop_reason_ == "Reached max_iterations=2."
    assert not crf.converged_


def test_a_search_whose_fits_end_at_max_iterations_warns_once(monkeypatch):
    monkeypatch.setattr(sklearn_conventions, "WARNED", set())
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        GridSearchCV(CRF(max_iterations=2, n_jobs=1), {"c2": [0.1, 1.0, 10.0]}, cv=3, refit=False).fit(X, Y)
    assert [w.category for w in record] == [ConvergenceWarning]


def test_what_the_user_asked_for_needs_no_warning():
    crf = CRF(callbacks=[lambda row: row["step"] == 1], n_jobs=1).fit(X, Y)
    assert (crf.n_iter_, crf.converged_) == (1, False)
    crf = CRF(patience=1, tol=0, n_jobs=1).fit(X, Y, X_DEV, Y_DEV)
    assert not crf.converged_
    assert crf.history_[-1]["dev_accuracy"] == pytest.approx(crf.score(X_DEV, Y_DEV))


def test_held_out_data_come_in_pairs():
    for some in ({"X_dev": X_DEV}, {"y_dev": Y_DEV}):
        with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
            CRF().fit(X, Y, **some)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"algorithm": "foo"}, "There is no algorithm 'foo'"),
        ({"algorithm": LBFGS(), "c1": 0.1}, "here the penalty is l1"),
        ({"min_freq": "often"}, "min_freq must be a finite number; got min_freq='often'"),
        ({"n_jobs": 0}, "n_jobs=0 leaves no thread to work"),
        ({"callbacks": "stop"}, "callbacks must be a list of functions"),
        ({"patience": 2}, "patience=2 needs held-out data"),
    ],
    ids=str,
)
def test_wrong_values_are_one_sentence_at_fit_and_leave_an_earlier_fit_alone(wrong, sentence):
    crf = CRF(n_jobs=1).fit(X, Y)
    before = crf.model_
    with pytest.raises(ValueError, match=sentence):
        crf.set_params(**wrong).fit(X, Y)
    assert crf.model_ is before


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["AB"], r"y\[0\] is a str, not a sequence of labels"),
        ([["A", None]], r"y\[0\], position 1: the label is None"),
    ],
    ids=str,
)
def test_neither_a_string_nor_none_is_taken_for_labels(labels, sentence):
    with pytest.raises(DataError, match=sentence):
        CRF().fit([[["a"], ["b"]]], labels)


def test_wrong_data_are_one_sentence_and_leave_an_earlier_fit_alone():
    crf = CRF(n_jobs=1).fit(X, Y)
    before = crf.model_
    with pytest.raises(DataError, match="X has 40 sequences and y has 1"):
        crf.fit(X, Y[:1])
    assert crf.model_ is before


OUTCOME = ("history_", "n_iter_", "converged_", "stop_reason_", "certificate_", "training_log_")


def test_before_fit_everything_is_a_not_fitted_error():
    crf = CRF()
    for use in (crf.predict, crf.predict_single, crf.predict_marginals, crf.predict_marginals_single):
        with pytest.raises(NotFittedError, match="This CRF is not fitted: call fit"):
            use(X)
    for name in ("model_", "classes_", "attributes_", "num_attributes_", "size_", "state_features_", *OUTCOME):
        with pytest.raises(NotFittedError, match="This CRF is not fitted: call fit"):
            getattr(crf, name)
        assert not hasattr(crf, name)
    with pytest.raises(NotFittedError):
        crf.save("never.crf")
    with pytest.raises(AttributeError, match="'CRF' object has no attribute 'fitt'"):
        _ = crf.fitt


def test_an_attribute_that_does_not_exist_is_no_matter_of_fitting(crf):
    for each in (crf, CRF()):
        for name in ("state_feature_", "tagger_", "modelfile"):
            with pytest.raises(AttributeError, match=f"'CRF' object has no attribute '{name}'") as caught:
                getattr(each, name)
            assert not isinstance(caught.value, NotFittedError)
    with pytest.raises(AttributeError, match=r"use predict .*, or fastcrf.compat.sklearn_crfsuite.CRF"):
        _ = crf.tagger_


def test_weights_are_listed_once_and_not_at_each_look(crf, monkeypatch):
    again = pickle.loads(pickle.dumps(crf))
    names, listed = crf.attributes_, []
    monkeypatch.setattr(type(again.model_.attributes), "names", lambda _: listed.append(1) or names)
    for _ in range(300):
        again.state_features_.get((names[0], "B"), 0.0)
        _ = again.attributes_
    assert len(listed) == 2
    assert again.state_features_ == crf.state_features_


def test_another_fit_has_other_weights():
    crf = CRF(n_jobs=1).fit(X, Y)
    before = crf.state_features_
    assert crf.fit(X[:5], Y[:5]).state_features_ != before


def test_what_a_model_file_does_not_hold_is_a_not_fitted_error_too(crf):
    loaded = CRF.from_bytes(crf.to_bytes())
    for name in OUTCOME:
        with pytest.raises(NotFittedError, match=f"This CRF has no {name}: model files do not store it; call fit"):
            getattr(loaded, name)


@pytest.mark.parametrize("way", ["pickle", "bytes", "file"])
def test_a_model_survives(way, crf, tmp_path):
    if way == "pickle":
        again = pickle.loads(pickle.dumps(crf))
        assert again.history_ == crf.history_
        assert again.certificate_ == crf.certificate_
    elif way == "bytes":
        again = CRF.from_bytes(crf.to_bytes())
    else:
        crf.save(tmp_path / "model.crf")
        again = CRF.load(tmp_path / "model.crf")
        assert load(tmp_path / "model.crf").tag(X) == crf.predict(X)
    assert again.predict_marginals(X) == crf.predict_marginals(X)
    assert again.classes_ == crf.classes_
    assert again.state_features_ == crf.state_features_


def test_a_loaded_model_knows_its_parameters_as_far_as_a_file_can_hold_them():
    crf = CRF("lbfgs", c2=np.float64(0.25), min_freq=1, callbacks=[print], n_jobs=1, model_filename=None)
    crf.callbacks = [lambda row: None]
    again = CRF.from_bytes(crf.fit(X, Y).to_bytes())
    assert (again.algorithm, again.c2, again.min_freq, again.n_jobs) == ("lbfgs", 0.25, 1, 1)
    assert again.callbacks is None
    assert again.fit(X, Y).state_features_ == crf.state_features_


def test_labels_that_a_file_cannot_hold_are_refused_when_saving_and_survive_pickling():
    crf = CRF(n_jobs=1).fit(X, [[(label,) for label in labels] for labels in Y])
    with pytest.raises(ValueError, match="only str, int, float and bool labels can be saved"):
        crf.to_bytes()
    assert pickle.loads(pickle.dumps(crf)).predict(X) == crf.predict(X)


def test_model_filename_is_where_fit_saves_and_where_an_unfitted_crf_finds_a_model(tmp_path):
    path = tmp_path / "model.crf"
    fitted = CRF(model_filename=path, n_jobs=1).fit(X, Y)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.crf"]
    found = CRF(model_filename=str(path))
    assert found.predict(X) == fitted.predict(X)
    assert found.classes_ == fitted.classes_


def test_a_model_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(NotFittedError, match=r"there is no file .*none\.crf: call fit, or correct model_filename"):
        CRF(model_filename=tmp_path / "none.crf").predict(X)
    with pytest.raises(NotFittedError, match=r"there is no file .*none\.crf"):
        _ = CRF(model_filename=str(tmp_path / "none.crf")).history_


def test_a_file_that_is_no_model_is_one_sentence(tmp_path):
    (tmp_path / "model.crf").write_text("not a model")
    with pytest.raises(ValueError, match="Cannot load"):
        CRF(model_filename=tmp_path / "model.crf").predict(X)


def test_warm_start_goes_on_from_the_weights_of_the_previous_fit(tmp_path):
    crf = CRF(tol=1e-6, n_jobs=1, warm_start=True, model_filename=tmp_path / "model.crf").fit(X, Y)
    steps = crf.n_iter_
    assert crf.fit(X, Y).n_iter_ == 0
    assert CRF(tol=1e-6, n_jobs=1, warm_start=True, model_filename=tmp_path / "model.crf").fit(X, Y).n_iter_ == 0
    assert crf.set_params(c2=1.1).fit(X, Y).n_iter_ < steps
    assert crf.set_params(warm_start=False, c2=1.0).fit(X, Y).n_iter_ == steps


def test_warm_start_leads_to_the_optimum_of_the_new_data_alone():
    warm = CRF(tol=1e-9, n_jobs=1, warm_start=True).fit(X, [["other"] * len(labels) for labels in Y]).fit(X, Y)
    cold = CRF(tol=1e-9, n_jobs=1).fit(X, Y)
    assert warm.classes_ == cold.classes_
    assert warm.state_features_ == pytest.approx(cold.state_features_, abs=1e-4)


def test_a_sequence_of_weight_2_is_a_sequence_that_is_there_twice():
    weighted = CRF(tol=1e-9, n_jobs=1).fit(X, Y, sample_weight=[2.0] * 20 + [1.0] * 20)
    repeated = CRF(tol=1e-9, n_jobs=1).fit(X + X[:20], Y + Y[:20])
    assert weighted.state_features_ == pytest.approx(repeated.state_features_, abs=1e-4)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-8)


def test_the_number_of_threads_changes_nothing_but_the_last_digits():
    one, three = CRF(tol=1e-9, n_jobs=1).fit(X, Y), CRF(tol=1e-9, n_jobs=3).fit(X, Y)
    assert one.certificate_.objective == pytest.approx(three.certificate_.objective, rel=1e-9)
    assert CRF(tol=1e-9, n_jobs=3).fit(X, Y).state_features_ == three.state_features_


def test_crfsuite_compat_drops_pairs_whose_values_sum_to_less_than_0():
    items, labels = [[{"a": -1.0}, {"b": 2.0}]] * 3, [["x", "y"]] * 3
    assert ("a", "x") in CRF(n_jobs=1).fit(items, labels).state_features_
    assert ("a", "x") not in CRF(n_jobs=1, crfsuite_compat=True).fit(items, labels).state_features_


def test_verbose_shows_progress_on_standard_error_and_silence_is_the_default(capfd):
    CRF(n_jobs=1).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    CRF(n_jobs=1, verbose=True).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "objective" in err


def test_idioms_of_the_sklearn_crfsuite_tutorial_work(crf):
    labels = list(crf.classes_)
    labels.remove("O")
    assert set(labels) == {"B", "I"}
    (best, weight), *_ = Counter(crf.transition_features_).most_common(20)
    assert best in crf.transition_features_
    assert weight == max(crf.transition_features_.values())
    assert len(Counter(crf.state_features_).most_common()[-30:]) <= 30


class Unread:
    """Data that nobody may look at."""

    def __iter__(self):
        raise AssertionError("the data are being read")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"algorithm": "sag", "c1": 1.0}, "^sag has no L1 penalty, but c1=1: set c1=0"),
        ({"algorithm": "owlqn", "c1": 0.0, "c2": 1.0}, "^owlqn requires an L1 penalty, but c1=0: set c1 > 0"),
    ],
    ids=["sag", "owlqn"],
)
def test_a_penalty_that_the_solver_cannot_handle_is_refused_before_any_data_are_read(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        CRF(**parameters).fit(Unread(), Unread())
