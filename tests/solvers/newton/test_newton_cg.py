"""Newton-CG against the papers' algorithm with whole matrices, and at the end of its road."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.newton.newton_cg import NewtonCG
from fastcrf.solvers.newton.steihaug import steihaug, to_boundary
from fastcrf.solvers.registry import make
from reference.plain_newton import inner_cg, line_search_newton, trust_region_newton
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_problem import ToyProblem


def never():
    return False


def steps(problem, solver, n):
    return list(islice(solver.iterate(problem, np.zeros(problem.n_weights)), n + 1))


@pytest.mark.parametrize("c2", [1.0, 0.05])
def test_every_iterate_equals_the_plain_algorithm(c2):
    toy = ToyProblem(c2=c2, n=200)
    plain = trust_region_newton(toy, np.zeros(toy.n_weights), 8)
    ours = [step.weights for step in steps(toy, NewtonCG(superlinear=False), 8)]
    np.testing.assert_allclose(ours, plain[: len(ours)], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("c2", [1.0, 1e-3])
def test_with_a_line_search_every_iterate_equals_the_plain_algorithm(c2):
    toy = ToyProblem(c2=c2, n=200)
    start = np.random.default_rng(1).normal(size=toy.n_weights) * 3.0
    plain = line_search_newton(toy, start.copy(), 6)
    solver = NewtonCG(superlinear=False, globalization="line-search")
    ours = [step.weights for step in islice(solver.iterate(toy, start.copy()), 7)]
    np.testing.assert_allclose(ours, plain, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("globalization", ["trust-region", "line-search"])
def test_the_end_is_superlinear(globalization):
    toy = ToyProblem(c2=0.05)
    norms = [np.linalg.norm(step.gradient) for step in steps(toy, NewtonCG(globalization=globalization), 12)]
    assert norms[-1] < 1e-9
    last = [norm for norm in norms if norm > 1e-11][-4:]
    assert all(after / before < 0.1 for before, after in pairwise(last))


def test_a_preconditioner_is_a_change_of_variables():
    """In the variables w / scales the ball is round, and the plain algorithm takes the same steps."""
    toy = ToyProblem(c2=0.5, n=200)
    toy.variance_bounds = lambda w, gradient: np.linspace(1.0, 9.0, toy.n_weights)
    scales = toy.variance_bounds(None, None) ** -0.25
    scaled = ToyProblem(c2=0.5, n=200)
    scaled.gradient = lambda w: (toy.gradient(scales * w)[0], scales * toy.gradient(scales * w)[1])
    scaled.hessian = lambda w: scales[:, None] * toy.hessian(scales * w) * scales
    plain = [scales * w for w in trust_region_newton(scaled, np.zeros(toy.n_weights), 8)]
    ours = [step.weights for step in steps(toy, NewtonCG(superlinear=False, preconditioner=True), 8)]
    np.testing.assert_allclose(ours, plain[: len(ours)], rtol=1e-8, atol=1e-10)


def test_a_ball_ends_conjugate_gradients_at_its_boundary():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 8))
    H, g = root @ root.T, rng.normal(size=8)
    for radius in (0.01, 0.1, 1.0, 100.0):
        inner = steihaug(lambda d: H @ d, g, radius, 1e-8, 50, never)
        plain, hit = inner_cg(H, g, radius, 1e-8)
        np.testing.assert_allclose(inner.step, plain, rtol=1e-6)
        np.testing.assert_allclose(inner.residual, -g - H @ inner.step, atol=1e-8)
        assert inner.at_boundary == hit
        assert np.linalg.norm(inner.step) <= radius * (1 + 1e-12)


def test_the_way_to_the_boundary_does_not_cancel():
    along = np.array([1.0, 0.0])
    assert to_boundary(np.array([-1e8, 0.0]), along, 1e8) == pytest.approx(2e8)
    assert to_boundary(np.array([1e8 - 1.0, 0.0]), along, 1e8) == pytest.approx(1.0, rel=1e-6)


def corpus_problem(n_jobs=1):
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3)
    return Problem(corpus, random_features(0), c2=0.05, n_jobs=n_jobs)


@pytest.mark.parametrize("options", [{"cache": 0}, {"cache": 5}, {"hessian": "ad"}])
def test_where_products_come_from_makes_no_difference(options):
    problem = corpus_problem()
    kept = [step.weights for step in steps(problem, NewtonCG(), 6)]
    other = [step.weights for step in steps(problem, NewtonCG(**options), 6)]
    np.testing.assert_allclose(other, kept, rtol=1e-7, atol=1e-9)


def test_a_sample_of_all_sequences_is_the_whole():
    """sample=0.999 of 24 sequences is all of them, in products that begin anew."""
    problem = corpus_problem()
    whole = [step.weights for step in steps(problem, NewtonCG(), 6)]
    sampled = [step.weights for step in steps(problem, NewtonCG(sample=0.999), 6)]
    np.testing.assert_allclose(sampled, whole, rtol=1e-7, atol=1e-9)


def test_products_over_a_sample_are_cheaper_and_still_lead_to_the_optimum():
    problem = corpus_problem()
    lowest = steps(problem, NewtonCG(), 12)[-1].objective
    taken = steps(problem, NewtonCG(sample=0.25), 60)
    assert taken[-1].objective == pytest.approx(lowest, rel=1e-4)
    assert taken[1].passes == pytest.approx(1 + 0.25 * taken[1].info["products"])


def test_it_is_heard_between_products():
    problem = corpus_problem()
    run = NewtonCG().iterate(problem, np.zeros(problem.n_weights))
    start = next(run)
    problem.asked_to_stop = lambda: True
    stopped = next(run)
    np.testing.assert_array_equal(stopped.weights, start.weights)
    assert stopped.passes == 0
    problem.asked_to_stop = never
    again = NewtonCG().iterate(problem, np.zeros(problem.n_weights), dict(stopped.state))
    next(again)
    np.testing.assert_array_equal(next(run).weights, next(again).weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"globalization": "luck"}, "globalization must be one of trust-region, line-search"),
        ({"sample": 0.0}, "sample must be a number above 0 and at most 1"),
        ({"cache": "some"}, "cache must be a whole number"),
        ({"forcing": -1.0}, "forcing must be a number above 0"),
    ],
)
def test_wrong_options_are_a_sentence(options, message):
    with pytest.raises(ValueError, match=f"newton-cg: {message}"):
        make("newton-cg", **options)
