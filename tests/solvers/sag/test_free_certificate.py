"""A table of stored gradients is a dual point: what it proves holds at every Step, and is tight in the end."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.fitting.solver_choice import quasi_newton
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus, random_corpus, random_features

SOLVERS = ("sag", "sag-nus", "sag-nus-star", "saga", "saga-two-samples", "prox-saga")
PENALTIES = {"l2": (0.0, 0.7), "elastic net": (0.3, 0.2), "l1": (0.5, 0.0)}
handled = [(name, kind) for name in SOLVERS for kind in PENALTIES if kind == "l2" or name == "prox-saga"]


def lowest(problem):
    solver = make(quasi_newton(problem.c1), pairs=20)
    return minimize(problem, solver, stop=[CertifiedGap(1e-9), MaxIterations(2000)]).certificate.objective


@pytest.mark.parametrize(("name", "kind"), handled)
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), away=st.booleans())
def test_no_step_claims_more_than_is_true(name, kind, seed, weighted, away):
    corpus = random_corpus(seed, lengths=(3, 1, 4, 2), values=weighted, weights=weighted)
    problem = Problem(corpus, random_features(seed), *PENALTIES[kind])
    optimum = lowest(problem)
    start = np.random.default_rng(seed).normal(size=problem.n_weights) * away
    for step in islice(make(name, seed=seed % 100).iterate(problem, start), 12):
        assert step.lower_bound <= optimum * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize(("name", "kind"), [case for case in handled if case[1] != "l1"])
def test_in_the_end_it_proves_the_optimum(name, kind):
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 2), random_features(0), *PENALTIES[kind])
    step = next(islice(make(name).iterate(problem, np.zeros(problem.n_weights)), 250, None))
    assert step.lower_bound == pytest.approx(lowest(problem), rel=1e-4)


def test_rounded_gradients_claim_nothing():
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5]), random_features(0), c2=0.5)
    step = next(islice(make("sag", precision="single").iterate(problem, np.zeros(problem.n_weights)), 3, None))
    assert step.lower_bound is None


class Counted(Problem):
    """A problem that counts the gradients of the whole corpus."""

    gradients = 0

    def gradient(self, weights):
        Counted.gradients += 1
        return super().gradient(weights)


def test_the_objective_is_measured_only_when_the_goal_is_near():
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6)
    problem, Counted.gradients = Counted(corpus, random_features(0), c2=0.5), 0
    result = minimize(problem, make("sag-nus-star"), stop=[CertifiedGap(1e-5), MaxIterations(500)])
    assert result.status == "converged"
    assert Counted.gradients <= result.n_steps / 4
    estimates = [row["objective_estimate"] for row in result.trace if "objective_estimate" in row]
    assert len(estimates) > 3
    assert np.isfinite(estimates).all()
    assert estimates[-1] == pytest.approx(result.certificate.objective, rel=1e-3)
    assert sum(row["objective"] is None for row in result.trace) >= 3 / 4 * result.n_steps


def test_a_run_that_is_to_be_measured_is_measured_everywhere():
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6), random_features(0), c2=0.5)
    result = minimize(problem, make("sag-nus-star"), stop=[CertifiedGap(1e-3), MaxIterations(100)], measure=True)
    assert all(row["objective"] is not None for row in result.trace)
