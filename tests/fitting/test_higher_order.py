"""CRF(order=2) and more: every solver trains it, models are saved and loaded, and what cannot be says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.data.model_file import container
from fastcrf.data.model_file.content import pack
from fastcrf.exceptions import ModelFileError
from fastcrf.feature_space.feature_union import merge
from fastcrf.fitting.warm_start import starting_weights
from fastcrf.model.model import Model
from fastcrf.solvers.registry import names, solver_class

TESTS = Path(__file__).parents[1]
RANDOM = np.random.default_rng(4)
Y = [["A", "B", "B", "A", "A", "B", "B", "A"][:n] for n in (8, 3, 1, 2, 7, 5)]  # two of each: a matter of order 2
X = [[[f"w{RANDOM.integers(4)}"] for _ in labels] for labels in Y]


@pytest.fixture(scope="module")
def figures():
    """What every solver does on small chains of order 3, without the compiler."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-m", "reference.higher_order_solvers"]
    done = subprocess.run(command, env=environment, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", sorted(set(names()) - {"eg", "oeg"}))  # whose first point depends on the states
def test_without_longer_grams_every_solver_goes_the_way_of_order_one(figures, name):
    assert figures[name]["apart"] < 1e-9


@pytest.mark.parametrize("name", names())
def test_with_longer_grams_every_solver_that_minimizes_goes_down(figures, name):
    values = figures[name]["values"]
    assert np.isfinite(values).all()
    assert min(values) < values[0] or solver_class(name).guarantee == "no objective"


def test_stochastic_solvers_reach_the_optimum_of_batch_solvers(figures):
    reached = figures["reached"]
    for name in reached:
        assert reached[name] == pytest.approx(reached["lbfgs"], rel=1e-4), name


def test_order_two_learns_what_order_one_cannot():
    one, two = (CRF(order=order, c2=0.05, tol=1e-6).fit(X, Y) for order in (1, 2))
    assert two.certificate_.objective < 0.7 * one.certificate_.objective
    assert two.score(X, Y) == 1.0 > one.score(X, Y)
    assert set(two.ngram_features_) == {tuple(gram) for gram in ("ABB", "BBA", "BAA", "AAB")}
    assert min(two.ngram_features_.values()) > 0.0
    assert one.ngram_features_ == {}
    assert set(two.transition_features_) == set(one.transition_features_)


def test_order_three_learns_what_order_two_cannot_and_is_saved_and_loaded(tmp_path):
    labels = [(["A", "A", "A", "B"] * 3)[first:last] for first, last in ((0, 12), (1, 9), (2, 12), (3, 8), (0, 1))]
    items = [[["w"] for _ in sequence] for sequence in labels]
    two, three = (CRF(order=order, c2=0.05, tol=1e-6).fit(items, labels) for order in (2, 3))
    assert three.certificate_.objective < 0.7 * two.certificate_.objective
    assert three.score(items[:1], labels[:1]) == 1.0 > two.score(items[:1], labels[:1])
    assert set(map(len, three.ngram_features_)) == {3, 4}
    three.save(tmp_path / "model.crf")
    loaded = CRF.load(tmp_path / "model.crf")
    assert loaded.model_.features.order == 3
    assert loaded.predict_marginals(items) == three.predict_marginals(items)
    assert loaded.ngram_features_ == three.ngram_features_


def test_a_model_of_order_two_is_saved_and_loaded_and_is_no_crfsuite_model(tmp_path):
    crf = CRF(order=2, c2=0.1, boundaries=True).fit(X, Y)
    crf.save(tmp_path / "model.crf")
    loaded = CRF.load(tmp_path / "model.crf")
    assert loaded.order == 2
    assert loaded.model_.features.order == 2
    assert loaded.predict_marginals(X) == crf.predict_marginals(X)
    assert loaded.model_.ngram_features_ == crf.ngram_features_
    with pytest.raises(ModelFileError, match=r"chain of order 2|start and the end"):
        crf.save(tmp_path / "model.crfsuite")
    with pytest.raises(ModelFileError, match="chain of order 2"):
        CRF(order=2, c2=0.1).fit(X, Y).save(tmp_path / "model.crfsuite")


def test_models_of_order_one_are_written_as_before():
    _, header = pack(CRF(c2=0.1).fit(X, Y).model_._content())
    assert "order" not in header


@pytest.mark.parametrize(
    ("order", "source", "fault"),
    [
        (10, 0, "an order"),
        (0, 0, "an order"),
        ("2", 0, "an order"),
        (True, 0, "an order"),
        (2, 2 + 4, "out of range"),
        (1, 2, "out of range"),
    ],
)
def test_a_forged_order_raises_an_error(order, source, fault):
    arrays, header = pack(CRF(order=2, c2=0.1).fit(X, Y).model_._content())
    arrays["transition_sources"] = arrays["transition_sources"].copy()
    if fault == "out of range":
        arrays["transition_sources"][-1] = source
    data = container.to_bytes(arrays, json.loads(json.dumps(header | {"order": order})))
    with pytest.raises(ModelFileError, match=fault):
        Model.from_bytes(data)


def test_an_order_that_is_not_supported_raises_an_error_before_data_are_read():
    for order in (0, 10, 1.5, "two"):
        with pytest.raises(ValueError, match="order"):
            CRF(order=order).fit(None, None)


def test_a_warm_start_and_a_prior_match_triples_by_the_names_of_their_labels():
    crf = CRF(order=2, c2=0.1, tol=1e-8).fit(X, Y)
    model, old = crf.model_, crf.model_.features
    grown, places = merge(old, old._replace(n_labels=3, sources=old.sources[:0], targets=old.targets[:0]))
    assert grown.order == 2
    assert len(places) == old.n_weights
    labels = ["A", "B", "C"]  # one more, so that every history has another number
    moved = Model(labels, model.attributes, grown, starting_weights(model, model.attributes, labels, grown))
    assert moved.ngram_features_ == crf.ngram_features_
    assert moved.state_features_ == crf.state_features_
    assert moved.transition_features_ == crf.transition_features_
    again = CRF(order=2, c2=0.1, tol=1e-8).fit(X[:1], Y[:1], prior=crf)
    assert set(again.ngram_features_) == set(crf.ngram_features_)
    with pytest.raises(ValueError, match="chain of order 2"):
        CRF(order=1).fit(X, Y, prior=crf)


def test_a_stream_of_order_two_grows_with_its_labels(tmp_path):
    crf = CRF(order=2, random_state=2).partial_fit(X[1:4], Y[1:4])
    assert crf.model_.features.order == 2
    more = [["A", "C", "C", "B"]], [[["w1"], ["w9"], ["w2"], ["w0"]]]
    crf.partial_fit(more[1], more[0])
    assert ("A", "C", "C") in crf.ngram_features_
    assert ("A", "B", "B") in crf.ngram_features_
    crf.save_stream(tmp_path / "stream")
    assert CRF.load_stream(tmp_path / "stream").ngram_features_ == crf.ngram_features_
