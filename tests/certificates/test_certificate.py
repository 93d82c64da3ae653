"""The certificate against optima that scipy finds: its bound is never above them, and it closes at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fastcrf.certificates.certificate import Certificate
from fastcrf.objective.problem import Problem
from reference import brute_force
from reference.random_corpora import random_corpus, random_features

PENALTIES = [(0.0, 1.0), (0.0, 0.01), (1.0, 0.0), (0.05, 0.0), (0.3, 0.2), (2.0, 0.001), (100.0, 0.0)]

penalties = pytest.mark.parametrize(("c1", "c2"), PENALTIES)


def random_problem(seed, c1, c2, weighted=False, values=False):
    corpus = random_corpus(seed, values=values, weights=weighted)
    return Problem(corpus, random_features(seed), c1, c2)


def optimum(problem):
    """Where F is least, by bounded L-BFGS on w = u - v with u, v >= 0, which turns |w| into u + v."""
    n = problem.n_weights

    def split_objective(parts):
        smooth, slope = problem.gradient(parts[:n] - parts[n:])
        return smooth + problem.c1 * parts.sum(), np.concatenate((slope, -slope)) + problem.c1

    options = {"ftol": 0.0, "gtol": 1e-9, "maxiter": 5000, "maxfun": 20000, "maxcor": 20}
    found = minimize(split_objective, np.zeros(2 * n), jac=True, bounds=[(0.0, None)] * (2 * n), options=options).x
    return found[:n] - found[n:]


@penalties
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32), weighted=st.booleans(), values=st.booleans())
def test_the_lower_bound_is_never_above_the_optimum_wherever_it_is_asked_for(c1, c2, seed, weighted, values):
    problem = random_problem(seed, c1, c2, weighted, values)
    best = optimum(problem)
    least, direction = problem.value(best), np.random.default_rng(seed).normal(size=problem.n_weights)
    for distance in (0.0, 1e-6, 1e-3, 0.1, 1.0, 30.0, 1e4):
        for weights in (best + distance * direction, distance * direction):
            certificate = problem.certificate(weights)
            assert certificate.lower_bound <= least * (1 + 1e-10) + 1e-10
            assert certificate.gap >= problem.value(weights) - least - 1e-10 * max(1.0, problem.value(weights))


@penalties
@pytest.mark.parametrize("seed", [3, 4])
def test_the_gap_closes_at_the_optimum(c1, c2, seed):
    problem = random_problem(seed, c1, c2, weighted=seed == 4)
    assert problem.certificate(optimum(problem)).relative_gap <= (1e-8 if c2 else 1e-4)


@penalties
def test_the_objective_of_a_certificate_is_that_of_the_definition(c1, c2):
    problem = random_problem(5, c1, c2, weighted=True, values=True)
    weights = np.random.default_rng(5).normal(size=problem.n_weights)
    penalty = c1 * np.abs(weights).sum() + c2 * (weights**2).sum()
    expected = brute_force.loss(problem.corpus, problem.features, weights) + penalty
    smooth, gradient = problem.gradient(weights)
    assert problem.certificate(weights).objective == pytest.approx(expected, rel=1e-12)
    given_both = problem.certificate(weights, smooth + c1 * np.abs(weights).sum(), gradient)
    assert given_both.lower_bound == pytest.approx(problem.certificate(weights).lower_bound, rel=1e-12)


@pytest.mark.parametrize("bound", [-1e7, 0.0, 3.0])
def test_a_bound_that_proves_nothing_is_not_called_a_distance(bound):
    assert str(Certificate(7.0, bound)) == "objective 7; its optimality gap has no useful bound yet"
    assert str(Certificate(7.0, 6.93)) == "objective 7 is within 1 % of the optimum"


def test_a_certificate_shows_its_numbers():
    certificate = Certificate(13366.2, 13353.9)
    assert repr(certificate) == "Certificate(objective=13366.2, lower_bound=13353.9, gap=12.3, relative_gap=9.2e-04)"
    assert str(certificate) == "objective 13,366.2 is within 0.092 % of the optimum"


def test_without_a_penalty_nothing_is_proved_and_it_says_so():
    problem = random_problem(6, 0.0, 0.0)
    certificate = problem.certificate(np.zeros(problem.n_weights))
    assert (certificate.gap, certificate.relative_gap, certificate.lower_bound) == (np.inf, np.inf, -np.inf)
    assert str(certificate) == "no certificate: without a penalty there is no bound on the distance to the optimum"


@pytest.mark.parametrize("bound", [7.0 - 1e-14, 7.0, 7.0 + 1e-14])
def test_no_gap_is_certified_below_the_rounding_of_the_objective(bound):
    certificate = Certificate(7.0, bound)
    assert certificate.gap == pytest.approx(7e-12)
    assert certificate.relative_gap == pytest.approx(1e-12)
    assert str(certificate) == "objective 7 is within 1e-10 % of the optimum"


def test_an_overflow_of_the_bound_is_not_called_a_missing_penalty():
    problem = random_problem(6, 0.0, 1.0)
    weights = np.zeros(problem.n_weights)
    certificate = problem.certificate(weights, 7.0, np.full(problem.n_weights, 1e200))
    assert certificate.gap == np.inf
    assert str(certificate) == (
        "no certificate: the lower bound overflows float64; scale the values of the attributes down"
    )


def test_what_is_known_of_a_point_may_be_given_in_part():
    problem = random_problem(0, 0.3, 0.2)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    whole, gradient = problem.certificate(w), problem.gradient(w)[1]
    assert problem.certificate(w, objective=whole.objective) == whole
    assert problem.certificate(w, gradient=gradient) == whole
    assert problem.certificate(w, whole.objective, gradient) == whole
