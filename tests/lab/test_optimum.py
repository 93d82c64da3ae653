"""The best known optimum: between a certified bound and the lowest objective seen, kept and only ever improved."""

from __future__ import annotations

import math

import pytest

from fastcrf.lab import optimum
from fastcrf.lab.dataset import make_dataset
from fastcrf.lab.experiment import Experiment, Objective, Penalty
from fastcrf.lab.limits import Limits
from fastcrf.lab.optimum import Optimum, find_optimum
from fastcrf.lab.runner import run_experiment
from fastcrf.lab.store import Store
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from reference.toy_sequences import toy_sequences

PENALTIES = [Penalty(0.0, 0.5), Penalty(0.5, 0.0), Penalty(0.3, 0.2)]


@pytest.fixture(scope="module")
def dataset():
    return make_dataset("toy", *toy_sequences(40, seed=1))


def solver_for(penalty):
    return "owlqn" if penalty.c1 else "lbfgs"


def silent(sentence):
    """Nobody listens."""


def short_rows(dataset, penalty, store, passes=5.0):
    experiment = Experiment([dataset], [penalty], {"it": make(solver_for(penalty))}, limits=Limits(passes=passes))
    return run_experiment(experiment, store)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_it_brackets_the_optimum_of_a_long_run(dataset, tmp_path, penalty):
    objective = Objective(dataset, penalty)
    rows = short_rows(dataset, penalty, Store(tmp_path))
    found = find_optimum(objective, rows, Store(tmp_path), 1e-7, 1, silent)
    long_run = minimize(objective.problem(1), make(solver_for(penalty), pairs=15), stop=[MaxIterations(500)])
    truth = long_run.certificate.objective
    assert found.accuracy <= 1e-7
    assert found.lower_bound <= truth * (1 + 1e-12)
    assert found.value == pytest.approx(truth, rel=1e-7)


def test_it_is_found_once(dataset, tmp_path, monkeypatch):
    objective, store = Objective(dataset, PENALTIES[0]), Store(tmp_path)
    rows = short_rows(dataset, PENALTIES[0], store)
    first = find_optimum(objective, rows, store, 1e-8, 1, silent)
    monkeypatch.setattr(optimum, "search", None)
    assert find_optimum(objective, rows, store, 1e-8, 1, silent) == first


def test_a_search_that_gave_up_is_not_repeated_until_there_is_something_new(dataset, tmp_path, monkeypatch):
    objective, store = Objective(dataset, PENALTIES[0]), Store(tmp_path)
    rows = short_rows(dataset, PENALTIES[0], Store(tmp_path / "runs"))
    searches = []

    def give_up(objective, store, start, *_):
        searches.append(1)
        return Optimum(rows[-1]["objective"], 1.0), dataset_weights

    dataset_weights = Store(tmp_path / "runs").weights(rows[-1]["run"])
    monkeypatch.setattr(optimum, "search", give_up)
    for _ in range(2):
        find_optimum(objective, rows, store, 1e-9, 1, silent)
    assert len(searches) == 1
    find_optimum(objective, rows, store, 1e-10, 1, silent)
    lower = rows[-1] | {"objective": rows[-1]["objective"] * 0.999, "gap": None}
    find_optimum(objective, [*rows, lower], store, 1e-9, 1, silent)
    assert len(searches) == 3


def test_without_a_penalty_nothing_is_certified(dataset, tmp_path):
    rows = short_rows(dataset, Penalty(0.0, 0.0), Store(tmp_path), passes=3.0)
    assert rows[-1]["accuracy"] is None
    assert rows[-1]["suboptimality"] >= 0


def test_the_distance_is_never_negative_and_unknown_without_an_objective():
    known = Optimum(100.0, 99.0)
    assert known.facts(101.0)["suboptimality"] == pytest.approx(0.01)
    assert known.facts(99.9)["suboptimality"] == 0.0
    assert known.facts(None)["suboptimality"] is None
    assert known.accuracy == pytest.approx(1 / 99)
    assert Optimum(math.inf).facts(None) == {"optimum": None, "accuracy": None, "suboptimality": None}
