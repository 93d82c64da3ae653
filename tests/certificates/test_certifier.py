"""What a run proves: the best of what its steps, their mixtures and its solver say, kept to the end."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from fastcrf.certificates.certifier import Certifier, make_bundle
from fastcrf.core.types import Step
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from fastcrf.training.trace import Point
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_problem import ToyProblem


def stiff_problem(c1=0.0, c2=0.01):
    """Attributes that occur a hundred times as often as others, and a weak penalty."""
    corpus = learnable_corpus(2, lengths=[6] * 60, n_attributes=12, per_item=6)
    often = np.random.default_rng(0).random(len(corpus.attributes)) < 0.8
    attributes = np.where(often, corpus.attributes % 2, corpus.attributes).astype(np.int32)
    return Problem(corpus._replace(attributes=attributes), random_features(2, n_attributes=12), c1, c2)


@dataclass(frozen=True)
class NewestGap:
    """The goal of `CertifiedGap`, by the newest gradient alone."""

    tol: float
    status: ClassVar[str] = "converged"

    def reason(self, point, trace):
        return "Near enough." if point.own_certificate.relative_gap <= self.tol else None


@pytest.mark.parametrize(("name", "c1"), [("lbfgs", 0.0), ("owlqn", 0.1)])
def test_a_run_with_a_weak_penalty_is_certified_in_fewer_steps_than_by_its_newest_gradient(name, c1):
    problem = stiff_problem(c1, c2=0.001)
    result = minimize(problem, make(name), stop=[CertifiedGap(1e-3), MaxIterations(500)])
    alone = minimize(problem, make(name), stop=[NewestGap(1e-3), MaxIterations(500)])
    assert result.status == "converged"
    assert result.n_steps < alone.n_steps
    optimum = minimize(problem, make(name), stop=[CertifiedGap(1e-9), MaxIterations(1000)]).certificate.objective
    assert result.certificate.lower_bound <= optimum <= result.certificate.objective


@pytest.mark.parametrize(("name", "c1", "c2"), [("lbfgs", 0.0, 0.1), ("owlqn", 0.1, 0.1), ("owlqn", 0.5, 0.0)])
def test_the_lower_bound_of_a_run_never_falls_and_is_never_above_the_optimum(name, c1, c2):
    problem = stiff_problem(c1, c2)
    trace = minimize(problem, make(name), stop=[CertifiedGap(1e-10), MaxIterations(150)]).trace
    bounds = [row["objective"] - row["gap"] for row in trace if row["gap"] is not None]
    optimum = min(row["objective"] for row in trace)
    assert all(after >= before - 1e-9 for before, after in pairwise(bounds))
    assert max(bounds) <= optimum * (1.0 + 1e-10)
    assert len(bounds) > 3


def test_steps_that_were_evaluated_for_the_certificate_are_mixed_at_once():
    problem = stiff_problem()
    result = minimize(problem, make("sag-nus-star"), stop=[CertifiedGap(1e-2), MaxIterations(60)])
    alone = [problem.certificate(result.weights).relative_gap]
    assert result.status == "converged"
    assert result.certificate.relative_gap < alone[0]


@dataclass(frozen=True)
class Informed:
    """A solver that stays where it is and knows a lower bound."""

    bound: float
    name: ClassVar[str] = "informed"
    needs: ClassVar[frozenset[str]] = frozenset()
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "optimum"

    def iterate(self, problem, weights, state=None):
        for bound in (None, math.nan, self.bound, self.bound - 1.0):
            yield Step(weights, 1.0, *problem.gradient(weights), lower_bound=bound)


@pytest.mark.parametrize("c2", [0.0, 1e-6])
def test_a_solvers_own_lower_bound_joins_the_certificate(c2):
    problem = ToyProblem(c2=c2)
    result = minimize(problem, Informed(1.25))
    assert result.certificate.lower_bound == 1.25
    assert result.trace[-1]["gap"] == result.certificate.gap == result.certificate.objective - 1.25


def test_a_bundle_that_does_not_fit_the_budget_is_smaller_or_given_up_with_a_word(caplog):
    problem = ToyProblem()
    row = 4 * problem.n_weights
    assert make_bundle(problem, 100 * row).capacity == 8
    assert make_bundle(problem, 100 * row).nbytes == 10 * row
    assert make_bundle(problem, 7 * row).capacity == 5
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "fastcrf"):
        assert make_bundle(problem, 5 * row) is None
    assert "needs" in caplog.text
    assert "the certified gap may be 100 times the true gap" in caplog.text


def test_without_a_bundle_the_best_gradient_of_the_run_is_left():
    problem = ToyProblem(c2=0.01)
    certifier, near = Certifier(problem, budget=0), minimize(problem, make("lbfgs")).weights
    for number, w in enumerate((near, np.zeros(problem.n_weights))):
        point = Point(problem, Step(w, 1.0, *problem.gradient(w)), number, 0.0, 0.0, 0.0)
        point.certifier = certifier
        assert point.certificate.lower_bound == pytest.approx(problem.certificate(near).lower_bound)


def test_without_a_penalty_there_is_no_bundle_and_no_bound(caplog):
    result = minimize(stiff_problem(c2=0.0), make("lbfgs"), stop=[MaxIterations(20)])
    assert math.isinf(result.certificate.gap)
    assert not caplog.records


def test_a_checkpoint_without_a_certifier_is_continued_with_a_new_one(tmp_path, monkeypatch):
    problem, path = stiff_problem(), tmp_path / "run.state"
    monkeypatch.setattr(Certifier, "arrays", lambda self: {})
    monkeypatch.setattr(Certifier, "numbers", lambda self: None)
    minimize(problem, make("lbfgs"), stop=[MaxIterations(10)], checkpoint=Checkpoint(path))
    monkeypatch.undo()
    rules = [CertifiedGap(1e-3), MaxIterations(300)]
    result = minimize(problem, make("lbfgs"), stop=rules, checkpoint=Checkpoint(path, resume=True))
    assert result.status == "converged"


def test_a_continued_run_proves_what_an_uninterrupted_one_does_bit_for_bit(tmp_path):
    problem, path = stiff_problem(0.01), tmp_path / "run.state"
    minimize(problem, make("owlqn"), stop=[MaxIterations(43)], checkpoint=Checkpoint(path))
    stop = [MaxIterations(90)]
    continued = minimize(problem, make("owlqn"), stop=stop, checkpoint=Checkpoint(path, resume=True))
    whole = minimize(problem, make("owlqn"), stop=stop)
    gaps = [[row["gap"] for row in result.trace[44:]] for result in (continued, whole)]
    assert len(gaps[0]) == 47
    assert gaps[0] == gaps[1]


def test_a_run_that_reaches_a_limit_is_certified_by_the_best_mixture_of_its_steps(monkeypatch):
    def run():
        return minimize(stiff_problem(), make("lbfgs"), stop=[MaxIterations(8)]).certificate

    mixed = run()
    monkeypatch.setattr(Certifier, "mix", lambda *_: None)
    assert mixed.objective == run().objective
    assert mixed.lower_bound > run().lower_bound
