"""CRF(order=2): every solver that can trains it, models are saved and loaded, and what cannot be says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.data.model_file import container
from fastcrf.data.model_file.container import ModelFileError
from fastcrf.data.model_file.content import pack
from fastcrf.model import Model
from fastcrf.objective.problem import OF_ORDER_TWO, Problem
from fastcrf.solvers.registry import make, names, solver_class
from fastcrf.training.driver import minimize
from fastcrf.training.growth import merge
from fastcrf.training.plan import make_plan
from fastcrf.training.stopping import MaxSteps
from fastcrf.training.warm_start import starting_weights
from reference.random_corpora import random_corpus, random_features

rng = np.random.default_rng(4)
Y = [["A", "B", "B", "A", "A", "B", "B", "A"][:n] for n in (8, 3, 1, 2, 7, 5)]  # two of each: a matter of order 2
X = [[[f"w{rng.integers(4)}"] for _ in labels] for labels in Y]

ABLE = [name for name in names() if solver_class(name).needs <= OF_ORDER_TWO]


def problem_of(c1, c2):
    return Problem(random_corpus(3, lengths=(4, 1, 5, 2, 3), n_labels=3), random_features(3, order=2), c1, c2)


def best_of(problem):
    solver = make("owlqn" if problem.c1 else "lbfgs")
    return minimize(problem, solver, stop=[MaxSteps(200)]).certificate.objective


@pytest.mark.parametrize("name", ABLE)
def test_every_solver_that_can_goes_down_on_a_chain_of_order_two(name):
    solver = make(name)
    l2 = "l2" in solver.handles
    problem = problem_of(0.0 if l2 or "none" in solver.handles else 0.2, 0.5 if l2 else 0.0)
    result = minimize(problem, solver, stop=[MaxSteps(6)])
    start = problem.value(np.zeros(problem.n_weights))
    value = problem.value(result.weights)
    assert np.isfinite(value)
    if solver.promises != "no objective":
        assert value < start
        if problem.c1 or problem.c2:
            assert value >= best_of(problem) - 1e-6 * start


@pytest.mark.parametrize("name", ["sag", "sag-nus-star", "saga", "svrg", "adagrad", "psa", "auto", "gis"])
def test_solvers_reach_the_optimum_of_a_chain_of_order_two(name):
    problem = problem_of(0.0, 0.5)
    found = minimize(problem, make(name), stop=[MaxSteps(150)])
    assert problem.value(found.weights) == pytest.approx(best_of(problem), rel=1e-2)


def test_order_two_learns_what_order_one_cannot():
    one, two = (CRF(order=order, c2=0.05, tol=1e-6).fit(X, Y) for order in (1, 2))
    assert two.certificate_.objective < 0.7 * one.certificate_.objective
    assert two.score(X, Y) == 1.0 > one.score(X, Y)
    assert two.triple_features_[("A", "B", "B")] > 0.0 > two.triple_features_[("B", "B", "B")] if (
        "B", "B", "B",
    ) in two.triple_features_ else two.triple_features_[("A", "B", "B")] > 0.0  # fmt: skip
    assert one.triple_features_ == {} and set(two.transition_features_) == set(one.transition_features_)


def test_a_model_of_order_two_is_saved_and_loaded_and_is_no_crfsuite_model(tmp_path):
    crf = CRF(order=2, c2=0.1, boundaries=True).fit(X, Y)
    crf.save(tmp_path / "model.crf")
    loaded = CRF.load(tmp_path / "model.crf")
    assert loaded.order == 2 and loaded.model_.features.order == 2
    assert loaded.predict_marginals(X) == crf.predict_marginals(X)
    assert loaded.model_.triple_weights() == crf.triple_features_
    with pytest.raises(ModelFileError, match=r"chain of order 2|start and the end"):
        crf.save(tmp_path / "model.crfsuite")
    with pytest.raises(ModelFileError, match="chain of order 2"):
        CRF(order=2, c2=0.1).fit(X, Y).save(tmp_path / "model.crfsuite")


def test_models_of_order_one_are_written_as_before():
    _, header = pack(CRF(c2=0.1).fit(X, Y).model_.content())
    assert "order" not in header


@pytest.mark.parametrize(
    ("order", "source", "fault"),
    [(3, 0, "an order"), ("2", 0, "an order"), (True, 0, "an order"), (2, 2 + 4, "out of range"), (1, 2, "out of range")],
)
def test_a_forged_order_is_refused(order, source, fault):
    arrays, header = pack(CRF(order=2, c2=0.1).fit(X, Y).model_.content())
    arrays["transition_sources"] = arrays["transition_sources"].copy()
    if fault == "out of range":
        arrays["transition_sources"][-1] = source
    data = container.to_bytes(arrays, json.loads(json.dumps(header | {"order": order})))
    with pytest.raises(ModelFileError, match=fault):
        Model.from_bytes(data)


@pytest.mark.parametrize("name", sorted(set(names()) - set(ABLE)))
def test_what_cannot_train_order_two_says_so_before_data_are_read(name):
    with pytest.raises(ValueError, match=f"{name} is for chains of order 1.*use order=1"):
        CRF(name, order=2).fit(None, None)


def test_an_order_that_is_not_supported_is_refused_before_data_are_read():
    for order in (0, 3, 1.5, "two"):
        with pytest.raises(ValueError, match="order"):
            make_plan({"order": order})


def test_a_warm_start_and_a_prior_match_triples_by_the_names_of_their_labels():
    crf = CRF(order=2, c2=0.1, tol=1e-8).fit(X, Y)
    names = crf.attributes_
    order = [2, 0, 1]  # a new label comes first, and the old ones change places
    labels, old = ["C", "B", "A"], crf.model_.features
    grown, places = merge(old, old._replace(n_labels=3, sources=old.sources[:0], targets=old.targets[:0]))
    assert grown.order == 2 and len(places) == old.n_weights and len(order) == 3
    model = Model(labels[1:][::-1] + ["C"], crf.model_.attributes, grown, np.zeros(grown.n_weights))
    weights = starting_weights(crf.model_, model.attributes, model.labels, grown)
    moved = Model(model.labels, model.attributes, grown, weights)
    assert moved.triple_weights() == crf.triple_features_ and moved.state_weights() == crf.state_features_
    assert moved.transition_weights() == crf.transition_features_ and names == moved.attributes.names()
    again = CRF(order=2, c2=0.1, tol=1e-8, prior=crf).fit(X[:1], Y[:1])
    assert set(again.triple_features_) == set(crf.triple_features_)
    with pytest.raises(ValueError, match="chain of order 2"):
        CRF(order=1, prior=crf).fit(X, Y)


def test_a_stream_of_order_two_grows_with_its_labels(tmp_path):
    crf = CRF(order=2, random_state=2).partial_fit(X[1:4], Y[1:4])
    assert crf.model_.features.order == 2
    more = [["A", "C", "C", "B"]], [[["w1"], ["w9"], ["w2"], ["w0"]]]
    crf.partial_fit(more[1], more[0])
    assert ("A", "C", "C") in crf.triple_features_ and ("A", "B", "B") in crf.triple_features_
    crf.save_stream(tmp_path / "stream")
    assert CRF.load_stream(tmp_path / "stream").triple_features_ == crf.triple_features_
