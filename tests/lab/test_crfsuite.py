"""CRFsuite as a competitor: the same objective as ours, limits, and reasons to skip it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fastcrf.lab import crfsuite
from fastcrf.lab.dataset import make_dataset
from fastcrf.lab.experiment import Experiment, Objective, Penalty
from fastcrf.lab.limits import Limits
from fastcrf.lab.runner import run_experiment
from fastcrf.lab.store import Store
from fastcrf.solvers import make
from reference.toy_sequences import toy_sequences

pytest.importorskip("pycrfsuite")


@pytest.fixture(scope="module")
def dataset():
    return make_dataset("toy", *toy_sequences(30))


def rows_of(dataset, folder, penalty=Penalty(c2=0.5), limits=Limits(1e-8, 60.0), **solvers):  # noqa: B008
    chosen = {"crfsuite": crfsuite.CRFsuite(), **solvers}
    return run_experiment(Experiment([dataset], [penalty], chosen, limits=limits), Store(folder))


def test_it_ends_at_the_certified_optimum_of_the_same_objective(dataset, tmp_path):
    rows = rows_of(dataset, tmp_path, lbfgs=make("lbfgs"))
    theirs = [row for row in rows if row["solver"] == "crfsuite"]
    assert theirs[0]["accuracy"] <= 1e-8
    assert theirs[-1]["suboptimality"] <= 1e-6
    assert theirs[-1]["objective"] == pytest.approx(rows[-1]["optimum"], rel=1e-6)
    assert [row["step"] for row in theirs] == list(range(1, len(theirs) + 1))
    assert all(np.diff([row["passes"] for row in theirs]) >= 1.0)


def test_its_rounded_objectives_do_not_decide_the_optimum(dataset, tmp_path):
    alone = rows_of(dataset, tmp_path / "alone")
    assert {row["optimum"] for row in alone} == {None}


def test_it_ends_at_the_limit_of_passes(dataset, tmp_path):
    rows = rows_of(dataset, tmp_path, limits=Limits(1e-8, 5.0))
    assert 5.0 <= rows[-1]["passes"] < 8.0
    assert rows[-1]["status"] == "out of passes"


def test_a_finished_run_is_kept(dataset, tmp_path):
    first = rows_of(dataset, tmp_path)
    assert [row["wall"] for row in rows_of(dataset, tmp_path)] == [row["wall"] for row in first]


def test_values_of_attributes_reach_it(tmp_path):
    X, y = toy_sequences(20)
    valued = [[{str(name): 0.5 + 0.25 * t for name in item} for t, item in enumerate(items)] for items in X]
    rows = rows_of(make_dataset("valued", valued, y), tmp_path, lbfgs=make("lbfgs"))
    assert min(row["suboptimality"] for row in rows if row["solver"] == "crfsuite") <= 1e-5


def test_weighted_sequences_and_a_missing_package_are_reasons_to_skip(monkeypatch):
    X, y = toy_sequences(5)
    weighted = Objective(make_dataset("toy", X, y, sample_weight=[2.0] * 5), Penalty(c2=1.0))
    assert "weights" in crfsuite.CRFsuite().reason_to_skip(weighted)
    monkeypatch.setattr(crfsuite, "MODULE", "no_such_module")
    assert "pip install python-crfsuite" in crfsuite.CRFsuite().reason_to_skip(weighted)


def test_other_features_than_ours_are_an_error_not_a_curve(tmp_path):
    rows = rows_of(make_dataset("toy", *toy_sequences(20), min_freq=3.0), tmp_path)
    assert rows[-1]["status"] == "failed"
    assert "CRFsuite makes" in rows[-1]["reason"]


def test_the_package_that_stands_in_for_it_is_not_it(monkeypatch):
    class Spec:
        origin = str(Path("site-packages") / "fastcrf" / "compat" / "pycrfsuite" / "__init__.py")

    monkeypatch.setattr(crfsuite, "find_spec", lambda name: Spec())
    assert not crfsuite.is_installed()
