"""PSA and staggered Aitken against their dense twin; steps within an epoch; what a stream needs of their memory."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.core.types import Diverged
from fastcrf.objective.problem import Problem
from fastcrf.solvers.online.psa import PSA
from fastcrf.solvers.online.staggered_aitken import StaggeredAitken
from fastcrf.stochastic.sampling import epoch_permutation
from reference.dense_periodic import periodic
from reference.dense_sag import SequenceLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED = len(LENGTHS), 7
QUICK = {"eta": 0.4, "alpha": 0.95, "beta": 0.6, "period": 2, "seed": SEED}  # so that much happens in a few epochs


def small_problem(c1=0.0, c2=0.0, **options):
    return Problem(learnable_corpus(3, lengths=LENGTHS, **options), random_features(3), c1, c2)


def zeros(problem):
    return np.zeros(problem.n_weights)


def assert_epochs_agree(problem, solver, gamma, scope, epochs=6):
    loss = SequenceLoss(problem.corpus, problem.features)
    orders = [epoch_permutation(SEED, epoch + 1, N) for epoch in range(epochs)]
    constants = {name: getattr(solver, name) for name in ("eta", "kappa", "alpha", "beta", "period")}
    twin = periodic(
        loss, zeros(problem), orders, solver.batch_size, c1=problem.c1, c2=problem.c2, gamma=gamma, scope=scope,
        **constants,
    )  # fmt: skip
    steps = solver.iterate(problem, zeros(problem))
    assert next(steps).passes == 0
    for step, (w, online) in zip(islice(steps, epochs), twin, strict=True):
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        penalty = problem.c1 * np.abs(w).sum() + problem.c2 * (w @ w)
        assert step.info["online_objective"] == pytest.approx(online + penalty, rel=1e-10)
        assert step.passes == 1
    assert np.count_nonzero(w)


@pytest.mark.parametrize("penalty", [{}, {"c2": 0.5}, {"c2": 5.0}, {"c1": 0.3}])
@pytest.mark.parametrize("batch", [1, 3])
def test_psa_equals_its_dense_reference(penalty, batch):
    assert_epochs_agree(small_problem(**penalty), PSA(batch_size=batch, **QUICK), gamma=1, scope="component")


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("scope", ["global", "component"])
def test_staggered_aitken_equals_its_dense_reference(gamma, scope):
    solver = StaggeredAitken(gamma=gamma, scope=scope, **QUICK)
    assert_epochs_agree(small_problem(c2=0.5, values=True, weights=True), solver, gamma, scope)


@pytest.mark.parametrize("penalty", [{"c2": 0.5}, {"c1": 0.3}])
def test_attributes_with_many_labels_are_rows_and_those_with_few_are_cells(penalty):
    """Both kinds, wide enough for several attributes to be cells, and most of them rare."""
    options = {"n_labels": 13, "n_attributes": 40}
    corpus = learnable_corpus(5, lengths=(2, 1, 2, 2, 1, 2, 2), **options)
    problem = Problem(corpus, random_features(5, density=0.1, **options), **penalty)
    assert min(problem.likelihood.layout.n_rows, problem.likelihood.layout.n_cells) > 0
    assert_epochs_agree(problem, PSA(**QUICK), gamma=1, scope="component", epochs=3)
    assert_epochs_agree(problem, StaggeredAitken(**QUICK), gamma=3, scope="global", epochs=3)


def test_step_sizes_of_the_paper_stay_between_its_two_factors():
    problem = small_problem(c2=0.5)
    steps = PSA(period=1).iterate(problem, zeros(problem))
    last = next(islice(steps, 20, None))
    n_periods = last.state["updates"] // 2
    rates = last.state["step_size"] * last.state["rate"]
    assert (rates >= 0.1 * 0.99**n_periods * (1 - 1e-12)).all()
    assert (rates <= 0.1 * 0.9999**n_periods * (1 + 1e-12)).all()
    assert rates.std() > 0


def test_half_a_thousandth_of_the_sequences_is_at_least_one():
    problem = small_problem(c2=0.5)
    step = next(islice(PSA(batch_size=None).iterate(problem, zeros(problem)), 1, None))
    assert step.state["updates"] == N


def test_ctrl_c_within_an_epoch_loses_nothing():
    problem = small_problem(c2=0.5)
    whole = [step.weights for step in islice(PSA(**QUICK).iterate(problem, zeros(problem)), 4)]
    problem.asked_to_stop = lambda: True
    problem.__class__ = type("Sliced", (Problem,), {"slice_size": 2})
    steps = PSA(**QUICK).iterate(problem, zeros(problem))
    seen = [next(steps) for _ in range(13)]
    assert seen[1].state["sampled"] == 2
    np.testing.assert_allclose(seen[12].weights, whole[3], rtol=1e-10, atol=1e-14)


def test_a_step_size_that_is_too_large_is_named():
    problem = small_problem(values=True)
    with pytest.raises(Diverged, match=r"psa are not finite after .* updates; try a smaller eta"):
        list(islice(PSA(eta=1e307).iterate(problem, zeros(problem)), 30))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"beta": 0.9999}, "psa: beta must be below alpha, and alpha at most 1; got beta=0.9999 and alpha=0.9999."),
        ({"kappa": 0}, "psa: kappa must be a number above 0; got kappa=0."),
        ({"batch_size": 0}, "psa: batch_size must be a whole number of at least 1; got batch_size=0."),
    ],
)
def test_wrong_options_are_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        PSA(**options)


def test_there_are_three_gammas():
    with pytest.raises(ValueError, match=r"staggered-aitken: gamma must be 1, 2 or 3; got gamma=4\."):
        StaggeredAitken(gamma=4)
