"""Batch exponentiated gradient against a twin that keeps a probability for every labeling."""

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.dual.eg import EG
from reference import dense_dual
from reference.random_corpora import random_corpus, random_features


@pytest.mark.parametrize("c2", [0.5, 5.0])
@pytest.mark.parametrize("given", [False, True])
def test_it_equals_its_reference_step_by_step(c2, given):
    corpus = random_corpus(3, lengths=(3, 1, 4, 2, 3, 2), values=given, weights=given)
    problem, n, passes = Problem(corpus, random_features(3), c2=c2), 6, 0.0
    steps = EG(initial=2.0).iterate(problem, np.zeros(problem.n_weights))
    for w, dual, evaluations in dense_dual.eg(corpus, problem.features, c2, 15, initial=2.0):
        step = next(steps)
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-9, atol=1e-10)
        assert step.info["dual"] == pytest.approx(dual, rel=1e-10)
        assert passes * n == pytest.approx(evaluations)
        assert step.objective is None  # the driver measures it, on its own time
