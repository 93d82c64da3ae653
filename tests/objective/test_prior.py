"""A prior mean of the penalty: solvers work on differences from it and end where enumeration says."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.exceptions import CheckpointError
from fastcrf.feature_space import layout
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.sgd.scaled_descent import ScaledDescent
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from reference import dense_periodic, dense_sgd
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features

C2 = 0.5
ABLE = [name for name in registry.names() if "l2" in registry.solver_class(name).handles]
EXACT = [name for name in ABLE if registry.solver_class(name).guarantee.startswith("optimum")]
CORPUS, FEATURES = learnable_corpus(3, lengths=[3, 1, 4, 2, 3, 2], weights=True), random_features(3)


def random_prior(seed=0, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=FEATURES.n_weights)


def make(prior=None, c2=C2, n_jobs=1):
    return Problem(CORPUS, FEATURES, c2=c2, n_jobs=n_jobs, prior=prior)


class Shifted:
    """loss(w) + c2 |w - prior|^2 by enumeration, in w itself."""

    c1, n_jobs = 0.0, 1

    def __init__(self, prior, c2=C2):
        self.loss, self.prior, self.c2 = EnumeratedLoss(CORPUS, FEATURES), prior, c2
        self.n_weights = len(prior)

    def value(self, w):
        return sum(self.loss.value(i, w) for i in range(self.loss.n)) + self.c2 * np.sum((w - self.prior) ** 2)

    def gradient(self, w):
        slope = sum(self.loss.gradient(i, w) for i in range(self.loss.n))
        return self.value(w), slope + 2 * self.c2 * (w - self.prior)


def solution(problem, name="lbfgs", steps=2000):
    return minimize(problem, registry.make(name), stop=[CertifiedGap(1e-10), MaxIterations(steps)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_evaluation_is_that_of_the_shifted_objective(n_jobs):
    prior, v = random_prior(), random_prior(1)
    problem, plain = make(prior, n_jobs=n_jobs), Shifted(prior)
    value, slope = plain.gradient(prior + v)
    assert problem.value(v) == pytest.approx(value, rel=1e-12)
    smooth, gradient = problem.gradient(v)
    assert smooth == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-12)
    loss, expected = problem.expected_counts(v)
    assert loss + C2 * (v @ v) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(expected - problem.observed_counts() + 2 * C2 * v, slope, rtol=1e-10, atol=1e-12)
    assert problem.expected_counts_by_sum(v, 2)[0] == pytest.approx(loss, rel=1e-12)


def test_hessians_and_gradients_of_some_sequences_are_those_at_the_whole_weights():
    prior, v, direction = random_prior(), random_prior(1), random_prior(2)
    problem, plain, some = make(prior), make(), np.array([4, 0, 2])
    w = prior + v
    np.testing.assert_allclose(problem.hessian_product(v, direction), plain.hessian_product(w, direction), rtol=1e-12)
    for evaluate in ("sequence_hessian_product", "subset_gradient"):
        more = (direction, some) if evaluate == "sequence_hessian_product" else (some,)
        ours, theirs = (getattr(p, evaluate)(at, *more) for p, at in ((problem, v), (plain, w)))
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    point = problem.curvature()
    np.testing.assert_allclose(point.gradient(v)[1], problem.gradient(v)[1], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(point.product(direction), plain.hessian_product(w, direction), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_the_optimum_is_that_of_the_shifted_objective(name):
    prior = random_prior()
    problem = make(prior)
    *_, last = LBFGS().iterate(Shifted(prior), np.zeros(len(prior)))
    np.testing.assert_allclose(problem.model_weights(solution(problem, name).weights), last.weights, atol=2e-4)


@pytest.mark.parametrize("name", [name for name in ABLE if name not in EXACT])
def test_others_come_near_it_as_well(name):
    prior, start = random_prior(scale=2.0), np.zeros(FEATURES.n_weights)
    problem, lowest = make(prior), solution(make(prior)).certificate.objective
    *_, last = islice(registry.make(name).iterate(problem, start.copy()), 300)
    assert problem.value(last.weights) - lowest < 0.25 * (problem.value(start) - lowest)


@pytest.mark.parametrize("name", ABLE)
def test_a_prior_of_zeros_is_none_bit_for_bit(name):
    none, zeros = (
        minimize(make(prior), registry.make(name), stop=[MaxIterations(10)]) for prior in (None, random_prior(scale=0))
    )
    np.testing.assert_array_equal(none.weights, zeros.weights)
    assert [row["objective"] for row in none.trace] == [row["objective"] for row in zeros.trace]
    assert none.certificate == zeros.certificate


def test_a_strong_penalty_leads_to_the_prior():
    prior = random_prior()
    distances = []
    for c2 in (1.0, 1e3, 1e6):
        problem = make(prior, c2=c2)
        distances.append(np.abs(problem.model_weights(solution(problem).weights) - prior).max())
    assert distances[0] > 0.1
    assert distances[2] < 1e-4 < distances[1] < 0.1 * distances[0]


@pytest.mark.parametrize("seed", range(6))
def test_no_bound_exceeds_the_optimum(seed):
    """Neither that of a point, nor that of a whole run's planes."""
    problem = make(random_prior(seed, scale=3.0))
    run = minimize(problem, registry.make("lbfgs"), stop=[MaxIterations(12)])
    lowest = solution(problem).certificate.objective
    assert run.certificate.lower_bound <= lowest * (1 + 1e-9)
    for scale in (0.01, 0.3, 3.0):
        certificate = problem.certificate(random_prior(seed + 100, scale))
        assert certificate.lower_bound <= lowest * (1 + 1e-9) <= certificate.objective * (1 + 2e-9)
    assert run.certificate.relative_gap < 0.1


@pytest.mark.parametrize("name", ["sag", "saga", "sdca", "eg", "oeg"])
def test_no_bound_of_a_table_of_gradients_exceeds_the_optimum(name):
    """Such a bound has the part prior . d, whatever its sign; in the end it is all but the optimum itself."""
    for seed in range(3):
        problem = make(random_prior(seed, scale=2.0))
        lowest = solution(problem).certificate.objective
        steps = list(islice(registry.make(name).iterate(problem, np.zeros(problem.n_weights)), 60))
        assert all(step.lower_bound <= lowest * (1 + 1e-9) for step in steps if step.lower_bound is not None)
        assert steps[-1].lower_bound == pytest.approx(lowest, rel=1e-2)


@pytest.fixture(params=[1, 2], ids=["rows", "rows and cells"])
def threshold(request, monkeypatch):
    monkeypatch.setattr(layout, "dense_threshold", lambda padded: request.param)


class ShiftedLoss(EnumeratedLoss):
    """The losses of sequences at v + prior."""

    def __init__(self, corpus, prior):
        super().__init__(corpus, FEATURES)
        self.prior, self.corpus, self.features = prior, corpus, FEATURES

    def value(self, i, v):
        return super().value(i, v + self.prior)

    def gradient(self, i, v):
        return super().gradient(i, v + self.prior)


VALUED = learnable_corpus(4, lengths=[3, 1, 4, 2, 3, 2], values=True, weights=True)


def test_sgd_draws_at_the_whole_weights(threshold):
    prior, start, order = random_prior(), random_prior(1), np.array([4, 0, 0, 5, 2, 1, 3, 4])
    problem, steps = Problem(VALUED, FEATURES, c2=C2, prior=prior), np.linspace(0.5, 0.1, len(order))
    descent = ScaledDescent(problem, start.copy(), 1, shrink_first=False)
    dense = dense_sgd.sgd(ShiftedLoss(VALUED, prior), start, order, steps, 2 * C2 / VALUED.n_sequences)
    for k, (v, before) in enumerate(dense):
        assert descent.descend(order[k : k + 1], steps[k : k + 1]) == pytest.approx(before, rel=1e-12)
        descent.settle()
        np.testing.assert_allclose(descent.weights, v, rtol=1e-12, atol=1e-12)


def test_psa_draws_at_the_whole_weights(threshold):
    prior, start = random_prior(), random_prior(1)
    problem = Problem(VALUED, FEATURES, c2=C2, prior=prior)
    orders = [epoch_permutation(0, epoch, VALUED.n_sequences) for epoch in range(1, 9)]
    dense = dense_periodic.periodic(ShiftedLoss(VALUED, prior), start, orders, 1, c2=C2)
    steps = registry.make("psa").iterate(problem, start.copy())
    next(steps)
    for (v, _), step in zip(dense, steps, strict=False):
        np.testing.assert_allclose(step.weights, v, rtol=1e-9, atol=1e-11)


def test_lazy_vectors_score_with_the_whole_weights(threshold):
    prior, v, order = random_prior(), random_prior(1), np.arange(VALUED.n_sequences)
    whole, plain = Problem(VALUED, FEATURES, c2=C2, prior=prior), Problem(VALUED, FEATURES, c2=C2)
    solver = registry.make("adagrad")
    shifted, absolute = solver.descent(whole, v.copy(), None), solver.descent(plain, prior + v, None)
    assert shifted.loss(order) == pytest.approx(absolute.loss(order), rel=1e-12)


def test_a_part_has_the_prior_of_its_features():
    """A corpus whose first attribute never occurs: its features are left out, and so is what the prior has of them."""
    prior, corpus = random_prior(), CORPUS._replace(attributes=np.maximum(CORPUS.attributes, 1))
    problem, v = Problem(corpus, FEATURES, c2=C2, prior=prior), np.zeros(FEATURES.n_weights)
    part = problem.part(v)
    assert 0 < len(part.places) < FEATURES.n_weights
    np.testing.assert_array_equal(part.prior, prior[part.places])
    descent = ScaledDescent(problem, v, 1, shrink_first=False)
    assert descent.loss(np.arange(corpus.n_sequences)) == pytest.approx(problem.value(v), rel=1e-12)


def test_what_a_prior_cannot_do_raises_an_error():
    prior = random_prior()
    with pytest.raises(ValueError, match=r"the mean of an L2 penalty alone, but c1=0.5; set c1=0"):
        Problem(CORPUS, FEATURES, 0.5, 0.5, prior=prior)
    with pytest.raises(ValueError, match="the mean of an L2 penalty, but c2=0; set c2 above 0"):
        Problem(CORPUS, FEATURES, prior=prior)
    with pytest.raises(ValueError, match=r"The prior has the shape \(3,\), but there are 2\d weights"):
        make(prior[:3])
    with pytest.raises(ValueError, match="The prior holds a weight that is not finite"):
        make(prior * np.inf)


@pytest.mark.parametrize("name", ["lbfgs", "sag", "psa"])
def test_a_checkpoint_notices_another_prior(name, tmp_path):
    path, solver = tmp_path / "run.state", registry.make(name)
    minimize(make(random_prior()), solver, stop=[MaxIterations(3)], checkpoint=Checkpoint(path))
    for other in (None, random_prior(1)):
        with pytest.raises(CheckpointError, match="made with a different prior; use the same prior, or start over"):
            minimize(make(other), solver, stop=[MaxIterations(6)], checkpoint=Checkpoint(path, resume=True))
    resumed = minimize(make(random_prior()), solver, stop=[MaxIterations(6)], checkpoint=Checkpoint(path, resume=True))
    straight = minimize(make(random_prior()), solver, stop=[MaxIterations(6)])
    np.testing.assert_array_equal(resumed.weights, straight.weights)
