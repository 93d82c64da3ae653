"""Parameters that ask for the moon: capped at what is useful."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.objective.likelihood import Likelihood
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.system.threads import MOST_WITHOUT_CORES, usable_jobs
from reference.random_corpora import random_corpus, random_features
from reference.toy_sequences import toy_sequences


def test_threads_are_capped_at_what_is_useful():
    assert usable_jobs(10**9) == max(joblib.cpu_count(), MOST_WITHOUT_CORES)
    assert usable_jobs(3) == 3
    assert Likelihood(random_corpus(0), random_features(0), n_jobs=10**9).n_jobs <= 4


def test_a_capacity_of_a_thousand_million_pairs_takes_the_memory_of_those_that_there_are():
    pairs = CurvaturePairs(10**9, 5)
    rng = np.random.default_rng(0)
    few, points = CurvaturePairs(100, 5), rng.normal(size=(42, 5))
    curved = points * np.arange(1, 6)
    for i in range(40):
        for each in (pairs, few):
            each.add(points[i + 1], points[i], curved[i + 1], curved[i])
            direction = each.direction(points[i])
    assert len(pairs) == 40
    np.testing.assert_array_equal(direction, pairs.direction(points[39]))
    np.testing.assert_array_equal(few.direction(points[0]), pairs.direction(points[0]))
    assert pairs.basis.nbytes < 100_000
    again = CurvaturePairs(10**9, 5)
    again.restore("lbfgs", {name: np.array(value) for name, value in pairs.state().items()})
    np.testing.assert_array_equal(again.direction(points[3]), pairs.direction(points[3]))


@pytest.mark.parametrize("parameters", [{"n_jobs": 10**9}, {"algorithm": LBFGS(pairs=10**9)}])
def test_an_estimator_with_such_parameters_trains(parameters):
    X, y = toy_sequences(10)
    assert CRF(**parameters).fit(X, y).predict(X)
