"""CRF inside scikit-learn: searches, pipelines, routing, tags and the common checks."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy.stats import expon
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from fastcrf import CRF, CRFCV, metrics, scorers
from fastcrf.model.label_sequences import LabelSequences
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.sgd.asg import ASG
from fastcrf.stopping import EarlyStopping
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(30)


def test_clone_copies_every_parameter_and_nothing_that_was_learnt():
    crf = CRF(LBFGS(pairs=4), c2=0.5, n_jobs=1).fit(X, Y)
    copy = clone(crf)
    assert copy.get_params() == crf.get_params()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(crf)


def test_repr_shows_what_was_given():
    assert repr(CRF(c1=0.1, tol=1e-5)) == "CRF(c1=0.1, tol=1e-05)"
    assert "c1" in CRF(LBFGS(pairs=4), c1=0.1)._repr_html_()


def test_options_of_a_solver_object_are_nested_parameters():
    crf = CRF(LBFGS(pairs=4))
    assert crf.get_params()["algorithm__pairs"] == 4
    assert "algorithm__pairs" not in crf.get_params(deep=False)
    assert crf.set_params(algorithm__pairs=20).algorithm == LBFGS(pairs=20)
    assert crf.set_params(algorithm__seed=8, algorithm=ASG(), c2=3.0).algorithm == ASG(seed=8)
    assert crf.c2 == 3.0
    assert clone(crf).algorithm == pickle.loads(pickle.dumps(crf)).algorithm == crf.algorithm


def test_an_option_makes_an_object_of_a_name_and_keeps_the_name_of_a_preset():
    assert CRF("lbfgs").set_params(algorithm__pairs=20).algorithm == LBFGS(pairs=20)
    preset = clone(CRF("sg").set_params(algorithm__seed=3)).algorithm
    assert (preset.name, preset.seed) == ("sg", 3)
    with pytest.raises(ValueError, match="lbfgs has no option 'pair'"):
        CRF("lbfgs").set_params(algorithm__pair=20)
    with pytest.raises(ValueError, match="Invalid parameter"):
        CRF().set_params(num_pairs=20)


def test_a_grid_over_solvers_penalties_and_options():
    grid = {"c2": [0.1, 1.0], "algorithm__pairs": [6, 20]}
    search = GridSearchCV(CRF(LBFGS(), n_jobs=1), grid, cv=2).fit(X, Y)
    assert search.best_estimator_.algorithm == LBFGS(pairs=search.best_params_["algorithm__pairs"])
    grid = [{"algorithm": ["lbfgs", LBFGS(pairs=3)]}, {"algorithm": [OWLQN()], "c1": [0.1]}]
    assert len(GridSearchCV(CRF(n_jobs=1), grid, cv=2).fit(X, Y).cv_results_["params"]) == 3


def test_a_search_and_a_pipeline_pass_a_prior_and_a_start():
    old = CRF(n_jobs=1).fit(X, Y)
    search = GridSearchCV(CRF(n_jobs=1), {"c2": [1e7]}, cv=2).fit(X, Y, prior=old, init=old)
    assert search.best_estimator_.state_features_ == pytest.approx(old.state_features_, abs=1e-4)
    identity = FunctionTransformer(lambda some: some)
    piped = make_pipeline(identity, CRF(n_jobs=1)).fit(X, Y, crf__init=old)
    assert piped[-1].n_iter_ == 0


def test_cross_val_score_with_scorers_by_sequence_and_by_token():
    for scoring in (None, scorers.flat_accuracy, scorers.sequence_accuracy, scorers.segment_f1):
        scores = cross_val_score(CRF(n_jobs=1), X, Y, cv=3, scoring=scoring)
        assert np.all((scores >= 0) & (scores <= 1))


RAGGED = [["A"], ["A", "B"], ["B", "A"]], [["A"], ["B", "B"], ["A", "A"]]
EQUAL = [["A", "B"], ["B", "A"]], [["A", "A"], ["B", "A"]]
BINARY = [[0, 1], [1, 0]], [[0, 1], [1, 1]]
SINGLE = [["A"], ["B"]], [["A"], ["A"]]


@pytest.mark.parametrize("metric", [accuracy_score, partial(f1_score, average="macro")], ids=["accuracy", "f1"])
@pytest.mark.parametrize("gold_and_found", [RAGGED, EQUAL, BINARY, SINGLE], ids=["ragged", "equal", "0/1", "single"])
def test_metrics_of_scikit_learn_raise_on_predictions_and_the_documentation_quotes_the_message(metric, gold_and_found):
    gold, found = gold_and_found
    with pytest.raises(ValueError, match="legacy multi-label data representation") as caught:
        metric(gold, LabelSequences(found))
    page = (Path(__file__).parents[2] / "docs" / "reference/parameters.md").read_text()
    assert str(caught.value) in " ".join(page.replace("\n> ", " ").split())


def test_plain_lists_of_0_and_1_would_get_the_share_of_whole_sequences():
    assert accuracy_score(*BINARY) == 0.5 != metrics.flat_accuracy_score(*BINARY)


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_a_search_with_such_a_metric_has_no_score():
    assert np.isnan(cross_val_score(CRF(n_jobs=1), X, Y, cv=3, scoring="accuracy")).all()


def test_cross_val_predict_gives_one_list_per_sequence():
    predicted = cross_val_predict(CRF(n_jobs=1), X, Y, cv=3)
    assert [len(labels) for labels in predicted] == [len(x) for x in X]


def test_grid_search_on_two_workers_finds_the_same_as_on_one():
    grid = {"c2": [0.01, 10.0], "algorithm": ["lbfgs", "auto"]}
    parallel, serial = (GridSearchCV(CRF(), grid, cv=2, n_jobs=n).fit(X, Y) for n in (2, 1))
    assert parallel.best_params_ == serial.best_params_
    np.testing.assert_allclose(parallel.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"])
    assert parallel.best_estimator_.attributes_


def test_the_randomized_search_of_the_sklearn_crfsuite_tutorial_runs():
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=["B", "I"])
    grid = {"c1": expon(scale=0.5), "c2": expon(scale=0.05)}
    crf = CRF(algorithm="lbfgs", max_iterations=100, all_possible_transitions=True, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = RandomizedSearchCV(crf, grid, cv=3, n_iter=3, scoring=scorer, random_state=0).fit(X, Y)
    assert 0 < search.best_score_ <= 1
    assert search.best_estimator_.c1 == search.best_params_["c1"]


def test_a_pipeline_ends_in_a_crf():
    lists = FunctionTransformer(lambda some: [[[f"w={item['word']}"] for item in x] for x in some])
    pipeline = make_pipeline(lists, CRF(n_jobs=1)).fit(X, Y)
    assert pipeline.score(X, Y) == pipeline[-1].score(lists.transform(X), Y)
    assert pipeline.set_params(crf__c2=3.0)[-1].c2 == 3.0


def test_sample_weights_are_routed_to_fit():
    weights = [1.0 + i % 3 for i in range(len(X))]
    seen = []

    class Weighted(CRF):
        def fit(self, X, y, *, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight=sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        crf = Weighted(n_jobs=1).set_fit_request(sample_weight=True)
        GridSearchCV(crf, {"c2": [1.0]}, cv=2, refit=False).fit(X, Y, sample_weight=weights)
    assert list(map(list, seen)) == [weights[15:], weights[:15]]


def test_scikit_learn_sees_neither_a_matrix_nor_a_classifier():
    tags = get_tags(CRF())
    assert not tags.input_tags.two_d_array
    assert tags.target_tags.required
    assert tags.estimator_type is None
    assert not is_classifier(CRF())


def test_pickles_hold_no_files_and_no_threads():
    crf = CRF(n_jobs=2).fit(X, Y)
    data = pickle.dumps(crf)
    assert b"ThreadPool" not in data
    assert pickle.loads(data).predict(X) == crf.predict(X)


def test_pickles_hold_nothing_of_what_was_tagged():
    crf = CRF().fit(X, Y)
    before = pickle.dumps(crf)
    crf.predict([[{"word": f"never seen {i}"}] for i in range(100)])
    assert pickle.dumps(crf) == before


def test_of_the_common_checks_one_applies_to_sequences():
    """scikit-learn runs nearly all of its checks on matrices, and skips the rest for whoever takes none."""
    with pytest.warns(sklearn.exceptions.SkipTestWarning, match="Can't test estimator"):
        results = check_estimator(CRF(), on_fail=None)
    assert [(result["check_name"], result["status"]) for result in results] == [("check_estimator_cloneable", "passed")]


class CRFOfRows(CRF):
    """A CRF of a matrix, each row a sequence of one item: so that all of the common checks can be run."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.target_tags.single_output = True, True
        tags.input_tags.dict = tags.input_tags.string = False
        return tags

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y)
        return super().fit(sequences_of_one(X), [[label] for label in y.tolist()], sample_weight=sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        X, y = validate_data(self, X, y, reset=not hasattr(self, "_stream"))
        return super().partial_fit(sequences_of_one(X), [[label] for label in y.tolist()], classes=classes)

    def predict(self, X):
        check_is_fitted(self)
        return np.array(super().predict(sequences_of_one(validate_data(self, X, reset=False))).copy())[:, 0]

    def predict_proba(self, X):
        check_is_fitted(self)
        return np.concatenate(super().predict_proba(sequences_of_one(validate_data(self, X, reset=False))))

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


def sequences_of_one(X):
    return [[{f"f{j}": value for j, value in enumerate(row)}] for row in X.tolist()]


WHY_NOT = {  # name of a check: why it cannot pass
    "check_sample_weight_equivalence_on_dense_data": "it shuffles the rows, and the columns of predict_proba are in "
    "order of first appearance",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("strange_arrays_on_purpose")  # one check maps a pickled estimator from disk, read-only
@parametrize_with_checks([CRFOfRows(n_jobs=1)], expected_failed_checks=lambda estimator: WHY_NOT)
def test_the_common_checks_pass_on_rows(estimator, check):
    check(estimator)


def test_skops_saves_and_loads_a_fitted_crf():
    skops = pytest.importorskip("skops.io", reason="skops is not installed (pip install 'fastcrf[clients]')")
    crf = CRF(n_jobs=1).fit(X, Y)
    data = skops.dumps(crf)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert again.predict_marginals(X) == crf.predict_marginals(X)
    assert again.history_ == crf.history_


WHY_CROSS_VAL_PREDICT_CANNOT = {  # method: what scikit-learn says
    "predict_proba": "inhomogeneous shape",  # it makes an array of y
    "predict_marginals": "must be a str among",  # it knows four methods
}


@pytest.mark.parametrize("method", WHY_CROSS_VAL_PREDICT_CANNOT)
def test_cross_val_predict_has_no_probabilities(method):
    with pytest.raises(ValueError, match=WHY_CROSS_VAL_PREDICT_CANNOT[method]):
        cross_val_predict(CRF(n_jobs=1), X, Y, cv=3, method=method)


def test_held_out_data_are_routed_and_transformed_in_a_pipeline():
    with sklearn.config_context(enable_metadata_routing=True):
        crf = CRF(stopping=[EarlyStopping(3)], n_jobs=1).set_fit_request(X_dev=True, y_dev=True)
        to_items = FunctionTransformer(lambda sequences: [[{"w": str(item)} for item in x] for x in sequences])
        pipeline = Pipeline([("items", to_items), ("crf", crf)], transform_input=["X_dev"])
        pipeline.fit(X, Y, X_dev=X[:5], y_dev=Y[:5])
    expected = CRF(n_jobs=1).fit(to_items.transform(X), Y)
    assert pipeline[-1].attributes_ == expected.attributes_
    assert max(row["dev_accuracy"] for row in pipeline[-1].history_) > 0.5


def test_a_crfcv_is_cloned_searched_and_cross_validated():
    search = CRFCV(CRF(n_jobs=1), c2_values=[1.0, 0.1], cv=2, n_jobs=1)
    assert clone(search).get_params()["estimator__c1"] == 0.0
    outer = GridSearchCV(search, {"estimator__order": [1, 2]}, cv=2).fit(X, Y)
    assert outer.best_estimator_.best_estimator_.order == outer.best_params_["estimator__order"]
    assert [len(labels) for labels in cross_val_predict(search, X, Y, cv=3)] == [len(x) for x in X]
