"""Stochastic meta-descent against its twin with enumerated Hessians."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sgd.smd import SMD
from fastcrf.stochastic.sampling import epoch_permutation
from reference import dense_smd
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2, 3)
N, SEED = len(LENGTHS), 7


@pytest.mark.parametrize(("batch", "c2", "decay"), [(1, 0.5, 0.99), (3, 0.5, 1.0), (3, 0.0, 0.5)])
def test_it_equals_its_reference_for_the_same_order(batch, c2, decay):
    problem = Problem(learnable_corpus(3, lengths=LENGTHS, values=True, weights=True), random_features(3), c2=c2)
    orders = [epoch_permutation(SEED, epoch + 1, N) for epoch in range(4)]
    batches = [order[k : k + batch] for order in orders for k in range(0, N, batch)]
    loss = EnumeratedLoss(problem.corpus, problem.features)
    twin = list(dense_smd.smd(loss, np.zeros(problem.n_weights), batches, 0.1, 2 * c2 / N, 0.3, decay))
    solver = SMD(eta=0.1, batch_size=batch, meta_rate=0.3, decay=decay, seed=SEED)
    steps, updates = solver.iterate(problem, np.zeros(problem.n_weights)), -(-N // batch)
    assert next(steps).passes == 0
    for epoch, step in enumerate(islice(steps, 4)):
        w, gains, v, _ = twin[(epoch + 1) * updates - 1]
        np.testing.assert_allclose(step.weights, w, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(step.state["gains"], gains, rtol=1e-12)
        np.testing.assert_allclose(step.state["direction"], v, rtol=1e-12, atol=1e-13)
        online = sum(before for *_, before in twin[epoch * updates : (epoch + 1) * updates]) + c2 * (w @ w)
        assert step.info["online_objective"] == pytest.approx(online, rel=1e-12)
        assert step.passes == 2  # gradients and Hessians
    assert not np.allclose(gains, 1.0, atol=0.01)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"meta_rate": -1}, "smd: meta_rate must be a number of at least 0; got meta_rate=-1."),
        ({"decay": "long"}, "smd: decay must be a number of at least 0; got decay='long'."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        SMD(**options)
