"""ngd takes the steps of its dense twin; with the Euclidean function it is sgd."""

from __future__ import annotations

import itertools
import re
from itertools import islice

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.certificates.certificate import NOT_APPLICABLE
from fastcrf.fitting.plan import make_plan
from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.sgd.ngd import bregman_updates, convex_functions
from fastcrf.solvers.sgd.ngd.ngd import NGD
from fastcrf.solvers.sgd.ngd.options import NAMES
from fastcrf.stochastic.sampling import epoch_permutation
from fastcrf.stopping import CertifiedGap, MaxIterations, RelativeDecrease
from reference import dense_ngd
from reference.enumerated_loss import EnumeratedLoss
from reference.random_corpora import learnable_corpus, random_features
from reference.toy_sequences import toy_sequences

ETA = 0.3
PAPERS = ("u1.g1", "u2.g1", "u2.g2", "u2.g3")  # of cao2015, Figure 2


def small(weighted=False):
    corpus = learnable_corpus(3, lengths=[3, 1, 4, 2, 3], weights=weighted)
    return Problem(corpus, random_features(3), c2=0.7)


@pytest.mark.parametrize("update", [*PAPERS, "u4.p", "u6.g1"])
def test_an_epoch_is_that_of_the_dense_reference(update):
    assert_equal_epochs(small(), update, "sequence", p=2.5, epsilon=0.2)


def test_an_epoch_on_a_loss_is_that_of_the_dense_twin():
    assert_equal_epochs(small(), "b1.g1", "sequence", rtol=1e-5, gamma=0.4)


@pytest.mark.parametrize("gamma", [1.0, 0.0, 0.3, -2.0])
@pytest.mark.parametrize("update", [name for name in NAMES if name.startswith("b")])
def test_losses_have_the_natural_gradient_of_their_divergence_for_any_gamma(update, gamma, monkeypatch):
    """Section 3.1 and footnote 1, by finite differences of the divergence itself."""
    monkeypatch.setattr(bregman_updates, "slope", lambda function, u: called(convex_functions.slope, function, u))
    monkeypatch.setattr(bregman_updates, "curvature", lambda G, u: called(convex_functions.curvature, G, u))
    coefficients = (gamma + 0.5, 0.25, -0.5, -gamma - 0.75)
    options = {"gamma": gamma, "coefficients": coefficients, "epsilon": 0.5, "alpha": 1.0, "beta": 1.0, "p": 3.0}
    rule = registry.make("ngd", update=update, **options).transformation(table=False)
    for expected, observed in ((0.2, 0.0), (0.7, 1.0), (2.5, 2.0), (1.1, 0.0)):
        found = called(bregman_updates.direction, rule, expected - observed, observed)
        assert found == pytest.approx(dense_ngd.direction(update, expected, observed, options), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    ("loss", "gamma", "update"),
    [("b1", 1, "u6"), ("b1", 0, "u1"), ("b2", 1, "u4"), ("b2", 0, "u2"), ("b3", 1, "u3"), ("b3", 0, "u4"),
     ("b4", 1, "u5"), ("b4", 0, "u6")],
)  # fmt: skip
def test_table_1_has_the_updates_of_the_losses(loss, gamma, update):
    constants = dense_ngd.CONSTANTS | {"gamma": gamma, "alpha": 1.0, "beta": 1.0}
    for name, expected, observed in itertools.product(("g2", "g3"), (0.2, 1.3), (0.0, 1.0)):
        own, named = (dense_ngd.direction(f"{kind}.{name}", expected, observed, constants) for kind in (loss, update))
        assert own == pytest.approx(named, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("update", [name for name in NAMES if name.startswith("u")])
def test_every_pair_of_an_update_and_a_function_is_that_of_the_equations(update, monkeypatch):
    """Without the compiler, which would take a second for each."""
    monkeypatch.setattr(bregman_updates, "slope", lambda function, u: called(convex_functions.slope, function, u))
    monkeypatch.setattr(bregman_updates, "curvature", lambda G, u: called(convex_functions.curvature, G, u))
    kind, p = update.split(".")[0], 2.5 if update == "u4.p" else 1.5
    function = registry.make("ngd", update=update, p=p).function
    for expected, observed in itertools.product((0.0, 0.2, 1.0, 2.5), (0.0, 1.0, 2.0)):
        found = called(
            bregman_updates.direction, bregman_updates.UPDATES[kind](function), expected - observed, observed
        )
        twin = dense_ngd.direction(update, expected, observed, dense_ngd.CONSTANTS | {"p": p})
        assert found == pytest.approx(twin, rel=1e-12, abs=1e-14)


def called(generic, data, *others):
    """What a generic function means for `data`, as plain Python."""
    return IMPLEMENTATIONS[generic][type(data)].py_func(data, *others)


@pytest.mark.parametrize("update", ["u2.g1", "u6.g1"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_epoch_by_position_as_well(update, weighted):
    assert_equal_epochs(small(weighted), update, "position")


def test_a_sequence_of_weight_two_counts_twice():
    assert_equal_epochs(small(weighted=True), "u2.g2", "sequence", alpha=3.0)


@pytest.mark.parametrize("update", ["u1.g1", "u2.g3"])
def test_a_table_has_the_nearest_of_its_entries(update):
    """Sums over a sequence go beyond the table, too: attributes have values."""
    corpus = learnable_corpus(3, lengths=[3, 1, 4, 2, 3], values=True)
    problem = Problem(corpus, random_features(3), c2=0.7)
    assert_equal_epochs(problem, update, "sequence", table=True, points=2**15)
    with pytest.raises(AssertionError, match="Not equal"):
        assert_equal_epochs(problem, update, "sequence", table=True)


def assert_equal_epochs(problem, update, granularity, table=False, points=0, rtol=1e-12, **constants):
    n, start = problem.n_sequences, np.random.default_rng(1).normal(size=problem.n_weights)
    twin = dense_ngd.ngd(
        EnumeratedLoss(problem.corpus, problem.features), problem.corpus, problem.features, start.copy(),
        epoch_permutation(0, 1, n), ETA, 2.0 * problem.c2 / n, update, granularity, points=points, **constants,
    )  # fmt: skip
    *_, expected = twin
    solver = registry.make("ngd", update=update, granularity=granularity, eta=ETA, table=table, **constants)
    step = next(islice(solver.iterate(problem, start.copy()), 1, None))
    np.testing.assert_allclose(step.weights, expected, rtol=rtol, atol=rtol)
    assert np.abs(expected - start).max() > 0.1


@pytest.mark.parametrize("update", ["u2.p", "u4.p"])
def test_with_the_euclidean_function_it_is_sgd(update):
    problem = small()
    for options in ({"eta": ETA}, {"calibration": "crfsuite"}, {"calibration": "bottou"}):
        runs = (registry.make("ngd", update=update, **options), registry.make("sgd", **options))
        steps = zip(*(run.iterate(problem, np.zeros(problem.n_weights)) for run in runs), strict=False)
        for ours, theirs in islice(steps, 4):
            if update == "u2.p":
                np.testing.assert_array_equal(ours.weights, theirs.weights)
                assert ours[1:4] == theirs[1:4]
            else:
                np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-12, atol=1e-12)


def test_it_promises_the_objective_only_where_it_is_sgd():
    assert NGD().guarantee == registry.make("ngd", update="u2.p", p=1.5).guarantee == "no objective"
    assert registry.make("ngd", update="u2.p").guarantee == "near the optimum"
    assert make_plan(NGD()).stop == make_plan("ngd").stop == (RelativeDecrease(1e-5), MaxIterations(1000))
    assert make_plan(NGD(update="u2.p")).stop == (CertifiedGap(1e-3), MaxIterations(1000))


def test_it_ends_when_the_training_data_show_no_improvement():
    crf = CRF("ngd", stopping=[RelativeDecrease(0.01, iterations=3)]).fit(*toy_sequences(60, seed=1))
    assert crf.converged_
    assert crf.stop_reason_.startswith("The online objective")
    assert crf.certificate_ is NOT_APPLICABLE
    assert all(row["objective"] is None for row in crf.history_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"update": "u7.g1"}, "ngd: update must be one of u1.g1, u1.g2, u1.g3, u1.p, u2.g1"),
        ({"p": 1.0}, "ngd: p must be above 1, so that |u|^p / p has a derivative at 0; got p=1.0."),
        (
            {"update": "u4.p", "p": 1.5},
            "ngd: p must be at least 2 for u4.p, which is otherwise infinite at 0; got p=1.5.",
        ),
        ({"gamma": "1"}, "ngd: gamma must be a finite number; got gamma='1'."),
        (
            {"coefficients": (1.0, 0.0, 0.0, 1.0)},
            "ngd: coefficients must be four numbers a, b, c, d with a - b = c - d and a != c; "
            "got (1.0, 0.0, 0.0, 1.0).",
        ),
        ({"epsilon": 0.0}, "ngd: epsilon must be a number above 0; got epsilon=0.0."),
        ({"granularity": "token"}, "ngd: granularity must be one of sequence, position; got granularity='token'."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        registry.make("ngd", **options)
