"""Solvers against their papers to the letter, on cases where none of our deviations acts (docs of each solver)."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.newton.newton_cg import NewtonCG
from fastcrf.solvers.online.staggered_aitken import StaggeredAitken
from fastcrf.solvers.sgd.l1.sgd_l1 import SGDL1
from fastcrf.solvers.sgd.ngd.ngd import NGD
from fastcrf.stochastic.sampling import epoch_permutation
from reference import cao2015, tsuboi2011, tsuruoka2009, yang2012
from reference.dense_sag import SequenceLoss
from reference.enumerated_loss import EnumeratedLoss
from reference.plain_newton import trust_region_newton
from reference.random_corpora import learnable_corpus, random_features

LENGTHS, SEED, EPOCHS = (3, 2, 4, 2, 3, 2), 7, 4
N = len(LENGTHS)


def samples():
    return np.concatenate([epoch_permutation(SEED, epoch + 1, N) for epoch in range(EPOCHS)])


def assert_epochs_agree(problem, solver, paper, rtol=1e-10):
    at_ends = list(paper)[N - 1 :: N]
    steps = [step.weights.copy() for step in islice(solver.iterate(problem, np.zeros(problem.n_weights)), EPOCHS + 1)]
    np.testing.assert_allclose(steps[1:], at_ends, rtol=rtol, atol=1e-12)
    assert np.count_nonzero(at_ends[-1]) > 3


def without_what_gold_has():
    """Label 0 is gold everywhere, and no feature has it: gradients are never below 0, so weights are never above."""
    corpus, features = learnable_corpus(3, lengths=LENGTHS), random_features(3, density=1.0)
    corpus = corpus._replace(labels=np.zeros_like(corpus.labels))
    kept, after = features.labels > 0, features.targets > 0
    n_kept = np.concatenate(([0], np.cumsum(kept)))
    features = features._replace(
        offsets=n_kept[features.offsets],
        labels=features.labels[kept],
        sources=features.sources[after],
        targets=features.targets[after],
    )
    return corpus, features


@pytest.mark.parametrize("schedule", ["epoch", "exponential"])
def test_sgd_l1_is_figure_2_where_no_weight_is_above_zero(schedule):
    corpus, features = without_what_gold_has()
    problem, loss = Problem(corpus, features, 0.2, 0.0), SequenceLoss(corpus, features)

    def used(j):
        attributes = set(corpus.attributes[slice(*corpus.offsets[corpus.starts[[j, j + 1]]])].tolist())
        state = [f for a in attributes for f in range(features.offsets[a], features.offsets[a + 1])]
        return state + list(range(features.n_state, features.n_weights))

    rates = {"epoch": tsuruoka2009.equation_5(0.5, N), "exponential": tsuruoka2009.equation_6(0.5, 1 / 0.85, N)}
    paper = list(tsuruoka2009.figure_2(loss, used, samples(), rates[schedule], 0.2))
    assert min(w.min() for w in paper) < 0
    assert max(w.max() for w in paper) == 0
    assert_epochs_agree(problem, SGDL1(schedule=schedule, eta=0.5, decay=0.85, seed=SEED), paper)


def test_staggered_aitken_is_the_papers_without_a_penalty():
    problem = Problem(learnable_corpus(3, lengths=LENGTHS), random_features(3, density=1.0))
    loss = SequenceLoss(problem.corpus, problem.features)
    paper = yang2012.staggered_aitken(loss, samples(), 0.3, 0.9, 0.95, 0.6)
    solver = StaggeredAitken(eta=0.3, kappa=0.9, alpha=0.95, beta=0.6, period=1, batch_size=1, seed=SEED)
    assert_epochs_agree(problem, solver, paper)


def test_newton_cg_is_the_papers_with_its_tables_and_one_forcing():
    problem = Problem(learnable_corpus(3, lengths=(3, 1, 4)), random_features(3), c2=0.3)
    paper = tsuboi2011.ByTables(SequenceLoss(problem.corpus, problem.features), 0.3)
    rng = np.random.default_rng(1)
    theta, r = rng.normal(size=(2, problem.n_weights))
    np.testing.assert_allclose(problem.hessian_product(theta, r), paper.product(theta, r), rtol=1e-9, atol=1e-11)
    ours = [step.weights for step in islice(NewtonCG(superlinear=False).iterate(problem, 0 * theta), 6)]
    np.testing.assert_allclose(ours, trust_region_newton(paper, 0 * theta, 5), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("update", "constant"), [("u1.g1", 0.1), ("u2.g1", 0.1), ("u2.g2", 2.0), ("u2.g3", 3.0)])
def test_ngd_is_figure_2_without_a_penalty(update, constant):
    """Its step is then lambda / (1 - lambda) with lambda = 1 / rate, at every sample."""
    problem = Problem(learnable_corpus(3, lengths=LENGTHS), random_features(3))
    eta, name = 0.2, {"g1": "epsilon", "g2": "alpha", "g3": "beta"}[update[-2:]]
    loss = EnumeratedLoss(problem.corpus, problem.features)
    paper = cao2015.figure_2(loss, samples(), update, constant, 0.0, (1 + eta) / eta)
    solver = NGD(update=update, eta=eta, table=False, seed=SEED, **{name: constant})
    assert_epochs_agree(problem, solver, paper, rtol=1e-8)
