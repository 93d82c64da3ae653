"""Proximal SAGA and SVRG on real data, against OWL-QN: where chunks begin in CoNLL-2000. Needs the corpus."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.sag.prox_saga import ProxSAGA
from fastcrf.solvers.sag.svrg.prox_svrg import ProxSVRG
from reference.data_folder import corpus_file

N_SENTENCES = 300


@pytest.fixture(scope="module")
def chunks():
    """Corpus and features of the first sentences; the labels are B, I and O."""
    rows = [sentence.rows for sentence in islice(read_columns(str(corpus_file("conll2000/train.txt.gz"))), N_SENTENCES)]
    X = [FEATURE_SETS["chunking"]([row[:-1] for row in sentence]) for sentence in rows]
    corpus, attributes, labels = encode_training(X, [[row[-1][0] for row in sentence] for sentence in rows])
    return corpus, build_feature_map(corpus, len(attributes), len(labels))


def end_of(solver, problem, max_passes, start=None):
    passes = 0.0
    for step in solver.iterate(problem, np.zeros(problem.n_weights) if start is None else start.copy()):
        passes += step.passes
        if passes >= max_passes:
            break
    return step.weights


def assert_same_optimum(problem, found, expected, clear):
    """The same objective, and the same zeros as far as weights close to the optimum can tell.

    Where |gradient of the loss and its L2 penalty| < c1, the optimum is zero; where a weight is not small, it is not.
    What is in neither set, within `clear`, is on the edge: a hair's breadth of c1 decides.
    """
    assert problem.value(found) == pytest.approx(problem.value(expected), rel=1e-6)
    zero, not_zero = np.abs(problem.gradient(found)[1]) < problem.c1 - clear, np.abs(found) > clear
    for w in (found, expected):
        assert not w[zero].any()
        assert w[not_zero].all()
    assert np.count_nonzero(~(zero | not_zero)) < 0.005 * len(found)
    assert 100 < np.count_nonzero(not_zero) < 0.1 * len(found)


@pytest.mark.parametrize("solver", [ProxSAGA(), ProxSVRG()], ids=lambda solver: solver.name)
def test_elastic_net_has_the_optimum_and_support_of_owlqn(chunks, solver):
    problem = Problem(*chunks, c1=1.0, c2=0.5)
    assert_same_optimum(problem, end_of(solver, problem, 300), end_of(OWLQN(), problem, 600), clear=1e-3)


def test_with_l1_alone_it_stays_at_the_optimum_and_support_of_owlqn(chunks):
    """From zero, methods that draw would need thousands of passes: nothing makes the objective strongly convex."""
    problem = Problem(*chunks, c1=1.0, c2=0.0)
    expected = end_of(OWLQN(), problem, 1500)
    assert_same_optimum(problem, end_of(ProxSVRG(), problem, 30, expected), expected, clear=1e-2)
