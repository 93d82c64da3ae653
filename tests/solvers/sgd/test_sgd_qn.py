"""SGD-QN against its twin, number by number."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.sgd_qn import SGDQN
from fastcrf.stochastic.sampling import epoch_permutation
from reference import dense_sgd_qn
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED, C2 = len(LENGTHS), 7, 0.5


@pytest.mark.parametrize("skip", [2, 3])
def test_it_equals_its_reference_for_the_same_order(skip):
    problem = Problem(learnable_corpus(3, lengths=LENGTHS), random_features(3), c2=C2)
    loss, lam, eta = EnumeratedLoss(problem.corpus, problem.features), 2 * C2 / N, 0.3
    order = np.concatenate([epoch_permutation(SEED, epoch + 1, N) for epoch in range(5)])
    twin = list(dense_sgd_qn.sgd_qn(loss, np.zeros(problem.n_weights), order, 1 / (lam * eta), lam, skip))
    steps, passes = SGDQN(eta=eta, skip=skip, seed=SEED).iterate(problem, np.zeros(problem.n_weights)), 0.0
    for epoch, step in enumerate(islice(steps, 6)):
        if epoch:
            w, B, taken = twin[epoch * N - 1]
            passes += step.passes
            np.testing.assert_allclose(step.weights, w, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(step.state["scales"], lam * np.array(B), rtol=1e-8, atol=1e-9)
            assert passes * N == pytest.approx(taken)
    assert np.ptp(step.state["scales"]) > 0.1


def test_a_wrong_skip_is_one_sentence():
    with pytest.raises(ValueError, match=r"sgd-qn: skip must be a whole number of at least 1; got skip=0\."):
        SGDQN(skip=0)
