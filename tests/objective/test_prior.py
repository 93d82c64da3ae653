"""A prior mean of the penalty: solvers work on differences from it and end where enumeration says."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.objective.problem import WITH_PRIOR, Problem
from fastcrf.solvers import registry
from fastcrf.solvers.batch.lbfgs import LBFGS
from fastcrf.training.checkpoint import Checkpoint, CheckpointError
from fastcrf.training.driver import minimize
from fastcrf.training.stopping import CertifiedGap, MaxSteps
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features

C2 = 0.5
ABLE = [
    name
    for name in registry.names()
    if registry.solver_class(name).needs <= WITH_PRIOR
    and "l2" in registry.solver_class(name).handles
    and "optimum" in registry.solver_class(name).promises
]
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
    return minimize(problem, registry.make(name), stop=[CertifiedGap(1e-10), MaxSteps(steps)])


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
    assert problem.expected_counts_by_mass(v, 2)[0] == pytest.approx(loss, rel=1e-12)


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


@pytest.mark.parametrize("name", ABLE)
def test_the_optimum_is_that_of_the_shifted_objective(name):
    prior = random_prior()
    problem = make(prior)
    *_, last = LBFGS().iterate(Shifted(prior), np.zeros(len(prior)))
    np.testing.assert_allclose(problem.model_weights(solution(problem, name).weights), last.weights, atol=2e-4)


@pytest.mark.parametrize("name", [name for name in ABLE if name != "auto"])
def test_a_prior_of_zeros_is_none_bit_for_bit(name):
    """Not so auto, which takes its metric from the sequences where there is no prior."""
    none, zeros = (
        minimize(make(prior), registry.make(name), stop=[MaxSteps(25)]) for prior in (None, random_prior(scale=0))
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
    run = minimize(problem, registry.make("lbfgs"), stop=[MaxSteps(12)])
    lowest = solution(problem).certificate.objective
    assert run.certificate.lower_bound <= lowest * (1 + 1e-9)
    for scale in (0.01, 0.3, 3.0):
        certificate = problem.certificate(random_prior(seed + 100, scale))
        assert certificate.lower_bound <= lowest * (1 + 1e-9) <= certificate.objective * (1 + 2e-9)
    assert run.certificate.relative < 0.1


def test_what_a_prior_cannot_do_is_refused_with_a_sentence():
    prior = random_prior()
    with pytest.raises(ValueError, match=r"the mean of an L2 penalty alone, but c1=0.5; set c1=0"):
        Problem(CORPUS, FEATURES, 0.5, 0.5, prior=prior)
    with pytest.raises(ValueError, match="the mean of an L2 penalty, but c2=0; set c2 above 0"):
        Problem(CORPUS, FEATURES, prior=prior)
    with pytest.raises(ValueError, match=r"The prior has the shape \(3,\), but there are 2\d weights"):
        make(prior[:3])
    with pytest.raises(ValueError, match="The prior holds a weight that is not finite"):
        make(prior * np.inf)
    with pytest.raises(ValueError, match="sag needs sequences of the problem, which provides counts, gradient"):
        minimize(make(prior), registry.make("sag"), stop=[MaxSteps(1)])
    with pytest.raises(ValueError, match="A problem with a prior has no parts"):
        make(prior).part(prior)


def test_a_checkpoint_notices_another_prior(tmp_path):
    path = tmp_path / "run.state"
    minimize(make(random_prior()), LBFGS(), stop=[MaxSteps(3)], checkpoint=Checkpoint(path))
    for other in (None, random_prior(1)):
        with pytest.raises(CheckpointError, match="made with a different prior; use the same prior, or start afresh"):
            minimize(make(other), LBFGS(), stop=[MaxSteps(6)], checkpoint=Checkpoint(path, resume=True))
    resumed = minimize(make(random_prior()), LBFGS(), stop=[MaxSteps(6)], checkpoint=Checkpoint(path, resume=True))
    straight = minimize(make(random_prior()), LBFGS(), stop=[MaxSteps(6)])
    np.testing.assert_array_equal(resumed.weights, straight.weights)
