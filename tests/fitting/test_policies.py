"""Policies, which choose by the problem: by name and as an object they take the same steps, whoever watches."""

from __future__ import annotations

import pytest

from fastcrf import CRF
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto import auto
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.contract import Policy
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.registry import make, names
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
NUMBERS = ("objective", "objective_estimate", "gap", "passes")


def numbers(crf):
    return [[row.get(name) for name in NUMBERS] for row in crf.history_]


@pytest.fixture(params=["short fits", "long fits"])
def length(request, monkeypatch):
    if request.param == "long fits":
        monkeypatch.setattr(auto, "LONG", 0.0)
        monkeypatch.setattr(auto, "LONG_ENOUGH_TO_COMPILE", 0.0)
    return request.param


@pytest.mark.usefixtures("length")
def test_the_name_and_the_object_take_the_same_steps_and_callbacks_change_none():
    seen = []
    named = CRF("auto", n_jobs=1).fit(X, Y)
    watched = CRF("auto", callbacks=[seen.append], n_jobs=1).fit(X, Y)
    made = CRF(Auto(), n_jobs=1).fit(X, Y)
    assert numbers(named) == numbers(made) == numbers(watched)
    assert [row["step"] for row in seen] == [row["step"] for row in watched.history_]
    assert named.state_features_ == made.state_features_ == watched.state_features_


def test_long_fits_begin_in_single_precision_with_callbacks_as_well(monkeypatch):
    monkeypatch.setattr(auto, "LONG_ENOUGH_TO_COMPILE", 0.0)
    rows = CRF(callbacks=[print], n_jobs=1).fit(X, Y).history_
    assert rows[1]["objective"] is None
    assert rows[1]["objective_estimate"] > 0.0


def test_only_a_policy_merges_attributes_and_only_if_it_declares_so():
    X = [[["a", "also a"], ["b", "also b", "also b 2"]], [["b", "also b", "also b 2"]]] * 4
    corpus, learnt, labels = encode_training(X, [["x", "y"], ["y"]] * 4)
    features = build_feature_map(corpus, len(learnt), len(labels))

    class Separate(Auto):
        merges_attributes = False

    assert isinstance(choose_problem(LBFGS(), corpus, features, c2=1.0), Problem)
    assert isinstance(choose_problem(Separate(), corpus, features, c2=1.0), Problem)
    assert isinstance(choose_problem(Auto(), corpus, features, c2=1.0), MergedProblem)


def test_auto_is_the_policy_of_the_registry():
    assert [name for name in names() if isinstance(make(name), Policy)] == ["auto"]


def test_a_stream_and_shards_have_solvers_of_their_own():
    assert Auto(seed=3).for_streams() == make("psa", seed=3)
    assert Auto(pairs=4).for_shards(0.0) == LBFGS(pairs=4)
    assert Auto(max_linesearch=7).for_shards(0.5) == make("owlqn", max_linesearch=7)
