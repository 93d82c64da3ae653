"""What CRFsuite's parameters become: a solver with its options, a penalty, stopping rules and a choice of features."""

from __future__ import annotations

import re

import numpy as np
import pycrfsuite
import pytest

from fastcrf.compat.pycrfsuite._meanings import Criterion, Feature, Ignored, Option, Penalty
from fastcrf.compat.pycrfsuite._parameters import ALGORITHMS, FEATURES, Parameters
from fastcrf.compat.pycrfsuite._plan import SOLVERS, feature_options, planned
from fastcrf.compat.pycrfsuite._stopping import GradientRatio, Improvement, MeanLoss
from fastcrf.core.types import Step
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.solvers import registry
from fastcrf.solvers.margin.arow import AROW
from fastcrf.solvers.margin.passive_aggressive import PassiveAggressive
from fastcrf.solvers.margin.perceptron import Perceptron
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.sgd.l2sgd import L2SGD
from fastcrf.stopping import MaxIterations
from fastcrf.training.trace import Point
from reference.random_corpora import learnable_corpus
from reference.toy_problem import ToyProblem

UNLIMITED = MaxIterations(2**31 - 1)


def plan(algorithm="lbfgs", **values):
    parameters = Parameters(algorithm)
    for name, value in values.items():
        parameters.set(name.replace("calibration_", "calibration."), value)
    return planned(parameters)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_parameter_reaches_what_it_means(algorithm):
    """An option is one of the solver's, with CRFsuite's default; a penalty is one that the solver handles."""
    known, solver = registry.options_of(SOLVERS[algorithm]), registry.solver_class(SOLVERS[algorithm])
    peer = pycrfsuite.Trainer(algorithm, verbose=False).get_params()
    for name, parameter in (FEATURES | ALGORITHMS[algorithm]).items():
        assert parameter.default == peer[name]
        if isinstance(parameter.meaning, Option):
            assert parameter.default == known[parameter.meaning.name]
        elif isinstance(parameter.meaning, Penalty):
            assert parameter.meaning.name in {"c1", "c2"}
            assert solver.handles & {"l1+l2", "l2"}
        elif isinstance(parameter.meaning, Feature):
            assert parameter.default == {"min_freq": 0.0}.get(parameter.meaning.name, False)
        else:
            assert isinstance(parameter.meaning, Criterion | Ignored)


def test_the_defaults_are_those_of_crfsuite():
    assert plan() == (LBFGS(), 0.0, 1.0, (UNLIMITED, Improvement(10, 1e-5), GradientRatio(1e-5)))
    assert plan("l2sgd") == (L2SGD(seed=0), 0.0, 1.0, (MaxIterations(1000), Improvement(10, 1e-6)))
    mistakes = 0.0, 0.0, (MaxIterations(100), MeanLoss(0.0))
    assert plan("averaged-perceptron") == (Perceptron(seed=0), *mistakes)
    assert plan("passive-aggressive") == (PassiveAggressive(seed=0), *mistakes)
    assert plan("arow") == (AROW(seed=0), 0.0, 0.0, (MaxIterations(100), MeanLoss(0.0, or_equal=True)))


def test_under_an_l1_penalty_lbfgs_is_owlqn():
    """c2 stays 1 unless it is given, as in CRFsuite."""
    assert plan(c1=0.5, num_memories=3)[:3] == (OWLQN(pairs=3), 0.5, 1.0)
    assert plan(c1=0.5, c2=0.0)[:3] == (OWLQN(), 0.5, 0.0)


def test_options_reach_the_solver_and_numbers_the_rules():
    given = plan(num_memories=3, max_linesearch=7, linesearch="Backtracking", max_iterations=9, period=4, delta=0.1)
    assert given == (
        LBFGS(pairs=3, max_linesearch=7),
        0.0,
        1.0,
        (MaxIterations(9), Improvement(4, 0.1), GradientRatio(1e-5)),
    )
    calibration = {"eta": 0.2, "rate": 3.0, "samples": 50, "candidates": 4, "max_trials": 9}
    options = {f"calibration_{name}": value for name, value in calibration.items()}
    assert plan("l2sgd", c2=0.3, **options)[:3] == (L2SGD(**options, seed=0), 0.0, 0.3)
    given = plan("passive-aggressive", type=2, c=0.5, error_sensitive=False, averaging=0, epsilon=0.1)
    assert given[::3] == (
        PassiveAggressive(pa_type=2, c=0.5, error_sensitive=False, averaging=False, seed=0),
        (MaxIterations(100), MeanLoss(0.1)),
    )
    assert plan("arow", variance=2.0, gamma=0.1).solver == AROW(variance=2.0, gamma=0.1, seed=0)


def test_the_choice_of_features_reaches_the_feature_map():
    parameters = Parameters()
    parameters.set("feature.possible_transitions", 1)
    parameters.set("feature.minfreq", 2)
    options = feature_options(parameters)
    assert options == {"min_freq": 2.0, "all_states": False, "all_transitions": True, "drop_negative": True}
    corpus = learnable_corpus(0)
    assert build_feature_map(corpus, int(corpus.attributes.max()) + 1, int(corpus.labels.max()) + 1, **options)


@pytest.mark.parametrize(
    ("algorithm", "values", "sentence"),
    [
        ("lbfgs", {"c1": -1}, "c1 must be a finite number of at least 0; got c1=-1.0."),
        ("lbfgs", {"c2": "nan"}, "c2 must be a finite number of at least 0; got c2=nan."),
        ("lbfgs", {"max_iterations": 0}, "max_iterations must be a whole number of at least 1; got max_iterations=0."),
        ("lbfgs", {"period": -1}, "period must be a whole number of at least 0; got period=-1."),
        ("lbfgs", {"num_memories": 0}, "pairs must be a whole number of at least 1"),
        ("lbfgs", {"linesearch": "Newton"}, "linesearch must be one of MoreThuente, Backtracking, StrongBacktracking"),
        ("l2sgd", {"c2": 0}, "l2sgd"),
        ("l2sgd", {"calibration_samples": 0}, "calibration_samples must be a whole number of at least 1"),
        ("passive-aggressive", {"type": 3}, "pa_type must be 0, 1 or 2; got pa_type=3."),
        ("arow", {"epsilon": -1}, "epsilon must be a finite number of at least 0; got epsilon=-1.0."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(algorithm, values, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        plan(algorithm, **values)


def point(number=0, objective=1.0, gradient=None, weights=None, info=None, problem=None):
    problem = problem or ToyProblem()
    zeros = np.zeros(problem.n_weights)
    step = Step(
        zeros if weights is None else weights,
        1.0,
        objective=objective,
        gradient=zeros if gradient is None else gradient,
        info=info or {},
    )
    return Point(problem, step, number, 1.0, 0.0, 0.0)


def rows(*objectives):
    return [{"objective": value} for value in objectives]


def test_delta_compares_with_the_objective_a_period_ago():
    rule = Improvement(period=2, delta=0.1)
    assert rule.reason(point(number=1, objective=100.0), rows(100.0)) is None
    assert rule.reason(point(number=2, objective=100.0), rows(110.0, 104.0)) is None  # exactly delta is not below it
    assert "0.0909" in rule.reason(point(number=2, objective=100.83), rows(110.0, 104.0))
    assert rule.reason(point(number=3, objective=100.0), rows(1.0, 150.0, 101.0)) is None


def test_delta_takes_an_increase_for_the_end_and_a_period_of_0_switches_it_off():
    assert Improvement(1, 1e-5).reason(point(number=1, objective=2.0), rows(1.0)) is not None
    assert Improvement(0, 1e-5).reason(point(number=5, objective=1.0), rows(*[1.0] * 5)) is None


def test_delta_compares_online_objectives_where_the_solver_has_them():
    rule, earlier = Improvement(period=1, delta=0.1), [{"objective": 1e9, "online_objective": 120.0}]
    for online, fires in [(109.2, True), (109.0, False)]:
        there = point(number=1, info={"online_objective": online})
        assert (rule.reason(there, earlier) is not None) == fires
        assert rule.reason(there, rows(109.0)) is None  # the start has none


def test_epsilon_of_lbfgs_compares_the_gradient_with_the_weights_if_they_are_longer_than_one():
    problem = ToyProblem()
    gradient = np.zeros(problem.n_weights)
    gradient[0] = 3.0
    for length, ratio in ((10.0, 0.3), (0.01, 3.0)):
        there = point(gradient=gradient, weights=np.full(problem.n_weights, length / np.sqrt(problem.n_weights)))
        assert GradientRatio(1.01 * ratio).reason(there, []) is not None
        assert GradientRatio(0.99 * ratio).reason(there, []) is None


def test_epsilon_of_the_others_is_a_mean_loss():
    n = ToyProblem().n_sequences
    there = point(info={"training_loss": 0.5 * n})
    assert MeanLoss(0.5).reason(there, []) is None
    assert "below epsilon=0.51" in MeanLoss(0.51).reason(there, [])
    assert "at most epsilon=0.5" in MeanLoss(0.5, or_equal=True).reason(there, [])
    assert MeanLoss(9.0).reason(point(), []) is None
