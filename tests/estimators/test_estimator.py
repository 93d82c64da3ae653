"""CRF: parameters, fit, prediction, fitted attributes, files, warnings."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from fastcrf import CRF, load
from fastcrf.estimators.history import History
from fastcrf.exceptions import DataError, PenaltyError
from fastcrf.fitting.saved_parameters import restored
from fastcrf.solvers import registry
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.stopping import EarlyStopping
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
X_DEV, Y_DEV = toy_sequences(15, seed=1)


@pytest.fixture(scope="module")
def crf():
    return CRF(n_jobs=1).fit(X, Y)


def test_the_signature_has_22_parameters_of_which_only_the_algorithm_is_positional():
    parameters = list(inspect.signature(CRF).parameters.values())
    assert len(parameters) == 22
    assert [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY] == ["algorithm"]
    assert all(p.default is not inspect.Parameter.empty for p in parameters)


def test_the_docstring_explains_every_parameter_with_its_default():
    text = inspect.getdoc(CRF)
    for name, parameter in inspect.signature(CRF).parameters.items():
        (line,) = re.findall(rf"^{name} : .*$", text, re.MULTILINE)
        default = parameter.default
        shown = {1e-3: "1e-3", "auto": '"auto"'}.get(default, repr(default))
        assert line.endswith(f"default={shown}"), line


def test_the_examples_of_the_docstring_run():
    tests = doctest.DocTestFinder(recurse=False).find(CRF, "CRF", globs={})
    assert doctest.DocTestRunner().run(tests[0]) == (0, len(tests[0].examples))
    assert len(tests[0].examples) > 8


def test_the_constructor_stores_whatever_it_gets_and_fit_changes_none_of_it():
    solver, callbacks = LBFGS(pairs=3), [lambda row: None]
    crf = CRF(solver, c2=0.5, callbacks=callbacks, n_jobs=2)
    before = crf.get_params(deep=False)
    assert vars(crf) == before
    assert CRF(c1="nonsense").c1 == "nonsense"
    crf.fit(X, Y)
    assert crf.get_params(deep=False) == before
    assert all(value is before[name] for name, value in crf.get_params(deep=False).items())


def test_fit_returns_the_estimator_and_predict_gives_a_list_of_lists(crf):
    predicted = crf.predict(X)
    assert isinstance(predicted, list)
    assert [len(labels) for labels in predicted] == [len(x) for x in X]
    assert predicted[3] == crf.predict_single(X[3])
    assert json.loads(json.dumps(predicted)) == predicted


def test_numpy_sees_a_list_of_labels_as_one_dimension_even_where_lengths_agree(crf):
    for some in ([X[0], X[0]], X):
        assert np.asarray(crf.predict(some)).shape == (len(some),)


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


def test_the_history_has_columns_with_nan_where_there_is_no_value(crf):
    columns = crf.history_.columns()
    assert set(columns) == {name for row in crf.history_ for name in row}
    assert all(column.shape == (crf.n_iter_ + 1,) and column.dtype == np.float64 for column in columns.values())
    np.testing.assert_array_equal(columns["objective"], [row["objective"] for row in crf.history_])
    assert np.isnan(History([{"a": 1, "b": None}, {"a": 2}]).columns()["b"]).all()
    assert History().columns() == {}


def test_converged_says_that_the_goal_was_met(crf):
    assert crf.converged_
    assert crf.certificate_.relative_gap <= 1e-3
    assert crf.stop_reason_.startswith("The certified relative gap")


def test_a_limit_before_the_goal_warns_at_every_fit():
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        for _ in range(2):
            crf = CRF(max_iterations=6, n_jobs=1).fit(X, Y)
    assert [w.category for w in record] == [ConvergenceWarning] * 2
    assert record[0].filename == __file__
    assert str(record[0].message) == f"Training did not converge. {crf.stop_reason_} Increase the limit or tol."
    assert re.fullmatch(r"Reached max_iterations=6; the certified relative gap is \S+\.", crf.stop_reason_)
    assert not crf.converged_


def test_what_the_user_asked_for_needs_no_warning():
    """A warning would be an error here."""
    crf = CRF(callbacks=[lambda row: row["step"] == 1], n_jobs=1).fit(X, Y)
    assert (crf.n_iter_, crf.converged_) == (1, False)
    crf = CRF(tol=None, max_iterations=2, n_jobs=1).fit(X, Y)
    assert (crf.n_iter_, crf.converged_) == (2, False)
    crf = CRF(stopping=[EarlyStopping(patience=1)], tol=0, n_jobs=1).fit(X, Y, X_dev=X_DEV, y_dev=Y_DEV)
    assert not crf.converged_
    assert crf.history_[-1]["dev_accuracy"] == pytest.approx(crf.score(X_DEV, Y_DEV))


def test_held_out_data_come_in_pairs():
    for some in ({"X_dev": X_DEV}, {"y_dev": Y_DEV}):
        with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
            CRF().fit(X, Y, **some)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"algorithm": "foo"}, "There is no solver 'foo'"),
        ({"algorithm": "owlqn"}, "owlqn requires an L1 penalty"),
        ({"order": 0}, "order"),
        ({"min_count": 0}, "min_count must be a whole number of at least 1"),
        ({"min_freq": "often"}, "min_freq must be a finite number; got min_freq='often'"),
        ({"n_jobs": 0}, "n_jobs=0 is not valid; use a number of threads"),
        ({"callbacks": "stop"}, "callbacks must be a list of functions"),
        ({"stopping": [EarlyStopping()]}, "requires held-out data; pass X_dev and y_dev to fit"),
        ({"stopping": EarlyStopping()}, r"write stopping=\[EarlyStopping"),
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


OUTCOME = ("history_", "n_iter_", "converged_", "stop_reason_", "certificate_")


def test_before_fit_everything_is_a_not_fitted_error():
    crf = CRF()
    for use in (crf.predict, crf.predict_single, crf.predict_marginals, crf.predict_marginals_single):
        with pytest.raises(NotFittedError, match="This CRF is not fitted: call fit"):
            use(X)
    for name in ("model_", "classes_", "attributes_", "state_features_", *OUTCOME):
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


def test_what_a_model_file_does_not_hold_is_a_not_fitted_error_as_well(crf):
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
        assert load(tmp_path / "model.crf").predict(X) == crf.predict(X)
    assert again.predict_marginals(X) == crf.predict_marginals(X)
    assert again.classes_ == crf.classes_
    assert again.state_features_ == crf.state_features_


def test_a_loaded_model_knows_its_parameters_as_far_as_a_file_can_hold_them():
    crf = CRF("lbfgs", c2=np.float64(0.25), min_freq=1, max_iterations=None, callbacks=[lambda row: None], n_jobs=1)
    again = CRF.from_bytes(crf.fit(X, Y).to_bytes())
    assert (again.algorithm, again.c2, again.min_freq, again.n_jobs) == ("lbfgs", 0.25, 1, 1)
    assert again.max_iterations is None
    assert again.callbacks == ()
    assert again.fit(X, Y).state_features_ == crf.state_features_


def test_labels_that_a_file_cannot_hold_raise_an_error_when_saving_and_survive_pickling():
    crf = CRF(n_jobs=1).fit(X, [[(label,) for label in labels] for labels in Y])
    with pytest.raises(ValueError, match="only str, int, float and bool labels can be saved"):
        crf.to_bytes()
    assert pickle.loads(pickle.dumps(crf)).predict(X) == crf.predict(X)


def test_a_solver_object_is_saved_by_its_name_and_options():
    for solver in (LBFGS(pairs=3), registry.make("sg")):
        again = CRF.from_bytes(CRF(solver, max_iterations=3, tol=None, n_jobs=1).fit(X, Y).to_bytes())
        assert again.algorithm == solver
        assert again.algorithm.name == solver.name


def test_options_of_a_file_that_do_not_fit_leave_the_name():
    names = ("algorithm", "c2")
    for options in ({"pairs": 0}, {"nothing": 1}, {"pairs": "x"}, 3, [1]):
        given = {"algorithm": "lbfgs", "algorithm_options": options, "c2": 0.5, "patience": 3}
        assert restored(given, names) == {"algorithm": "lbfgs", "c2": 0.5}
    assert restored({"algorithm": "Averaged-Perceptron"}, names) == {"algorithm": "ap"}
    assert restored([], names) == {}


def test_init_begins_with_the_weights_of_a_model(tmp_path):
    crf = CRF(tol=1e-6, n_jobs=1).fit(X, Y)
    steps = crf.n_iter_
    crf.save(tmp_path / "model.crf")
    for init in (crf, crf.model_, tmp_path / "model.crf", str(tmp_path / "model.crf")):
        assert CRF(tol=1e-6, n_jobs=1).fit(X, Y, init=init).n_iter_ == 0
    assert crf.set_params(c2=1.1).fit(X, Y, init=crf).n_iter_ < steps
    for wrong in (3, CRF, [crf]):
        with pytest.raises(ValueError, match="init must be the path of a model, a fitted CRF or a Model; got init="):
            crf.fit(X, Y, init=wrong)
    with pytest.raises(NotFittedError):
        crf.fit(X, Y, init=CRF())


def test_init_leads_to_the_optimum_of_the_new_data_alone():
    other = CRF(n_jobs=1).fit(X, [["other"] * len(labels) for labels in Y])
    warm, cold = (CRF(tol=1e-9, n_jobs=1).fit(X, Y, init=init) for init in (other, None))
    assert warm.classes_ == cold.classes_
    assert warm.state_features_ == pytest.approx(cold.state_features_, abs=1e-4)


def test_min_count_drops_rare_attributes_whatever_their_labels():
    X_rare = [[{**item, f"once {i}": 1} for item in sequence[:1]] + sequence[1:] for i, sequence in enumerate(X)]
    assert CRF(min_count=2, n_jobs=1).fit(X_rare, Y).attributes_ == CRF(min_count=2, n_jobs=1).fit(X, Y).attributes_


@pytest.mark.parametrize("algorithm", ["lbfgs", "sag", "psa"])
def test_a_name_and_its_object_train_identically(algorithm):
    named, made = (CRF(a, max_iterations=20, n_jobs=1) for a in (algorithm, registry.make(algorithm)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert named.fit(X, Y).state_features_ == made.fit(X, Y).state_features_
    assert named.stop_reason_ == made.stop_reason_


def test_a_sequence_of_weight_2_is_a_sequence_that_is_there_twice():
    weighted = CRF(tol=1e-9, n_jobs=1).fit(X, Y, sample_weight=[2.0] * 20 + [1.0] * 20)
    repeated = CRF(tol=1e-9, n_jobs=1).fit(X + X[:20], Y + Y[:20])
    assert weighted.state_features_ == pytest.approx(repeated.state_features_, abs=1e-4)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-8)


def test_the_number_of_threads_changes_nothing_but_the_last_digits():
    one, three = CRF(tol=1e-9, n_jobs=1).fit(X, Y), CRF(tol=1e-9, n_jobs=3).fit(X, Y)
    assert one.certificate_.objective == pytest.approx(three.certificate_.objective, rel=1e-9)
    assert CRF(tol=1e-9, n_jobs=3).fit(X, Y).state_features_ == three.state_features_


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


@pytest.mark.parametrize(("algorithm", "c1"), [("sag", 1.0), ("owlqn", 0.0)])
def test_a_penalty_that_the_solver_cannot_handle_is_an_error_before_any_data_are_read(algorithm, c1):
    with pytest.raises(PenaltyError, match=algorithm):
        CRF(algorithm, c1=c1).fit(Unread(), Unread())
