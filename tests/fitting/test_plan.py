"""What an estimator's parameters mean: solver, penalty, stopping rules, and sentences for what cannot be."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from fastcrf.core.checks import functions, seed_of
from fastcrf.fitting.plan import CRFSUITE, SYNONYMS, make_plan
from fastcrf.solvers import registry
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.stopping import CertifiedGap, GradientNorm, MaxIterations, MaxPasses
from fastcrf.training.stopping import Epochs, GradientRatio, Improvement, MeanLoss

UNLIMITED = MaxIterations(2**31 - 1)
OURS = MaxIterations(1000)
AIMING = Auto(target=1e-3, seed=0)  # where a certified gap is the one goal
CRFSUITE_GOALS = (Improvement(10, 1e-5), GradientRatio(1e-5))


def plan(**parameters):
    return make_plan(parameters)


def test_none_is_auto_with_c2_1_and_a_certified_gap():
    expected = (AIMING, 0.0, 1.0, (OURS, CertifiedGap(1e-3)), 1e-3)
    assert plan() == plan(algorithm=None) == plan(algorithm="auto") == expected


@pytest.mark.parametrize(
    "looking",
    [
        {"delta": 1e-4},
        {"tol": 1e-3, "epsilon": 1e-3},
        {"gradient_tol": 0.1},
        {"c1": 1, "c2": 0},
    ],
)
def test_auto_is_exact_from_the_start_where_rules_look_at_every_step(looking):
    assert plan(**looking).solver == Auto(seed=0)
    assert plan(**looking, algorithm=Auto(target=0.1)).solver == Auto(seed=0)


def test_auto_aims_at_the_goal_by_name_and_as_an_object_with_callbacks_too():
    assert plan(tol=1e-5).solver == plan(tol=1e-5, algorithm=Auto()).solver == Auto(target=1e-5, seed=0)
    assert plan(callbacks=[print]).solver == AIMING
    assert plan(algorithm=Auto(target=0.1)).solver == Auto(target=0.1, seed=0)
    assert plan(engine="dask").solver == plan(algorithm=Auto(), engine="dask").solver == LBFGS()


def test_lbfgs_by_name_stops_as_crfsuite_does():
    assert plan(algorithm="lbfgs") == (LBFGS(), 0.0, 1.0, (UNLIMITED, *CRFSUITE_GOALS), 0.0)


def test_names_are_taken_in_any_case():
    assert plan(algorithm="L-BFGS".replace("-", "")) == plan(algorithm="lbfgs")


@pytest.mark.parametrize(
    ("algorithm", "smooth", "sparse"), [("lbfgs", LBFGS(), OWLQN()), ("auto", AIMING, AIMING)], ids=["lbfgs", "auto"]
)
def test_an_l1_penalty_makes_owlqn_of_lbfgs_and_keeps_its_default_c2(algorithm, smooth, sparse):
    """As in CRFsuite, where c2 stays 1 unless it is given."""
    assert plan(algorithm=algorithm, c1=0.5)[:3] == (sparse, 0.5, 1.0)
    assert plan(algorithm=algorithm, c1=0.5, c2=0, tol=1e-3)[:3] == (sparse, 0.5, 0.0)
    assert plan(algorithm=algorithm, c1=0.0)[:3] == (smooth, 0.0, 1.0)


def test_without_penalties_a_solver_has_its_own():
    assert plan(algorithm="owlqn")[1:3] == plan(algorithm=OWLQN())[1:3] == (1.0, 0.0)
    assert plan(algorithm=LBFGS())[1:3] == (0.0, 1.0)


def test_crfsuites_options_reach_the_solver_under_its_names():
    given = {"num_memories": 3, "max_linesearch": 7, "linesearch": "Backtracking"}
    assert plan(**given).solver == replace(AIMING, pairs=3, max_linesearch=7)
    assert plan(algorithm="lbfgs", **given).solver == LBFGS(pairs=3, max_linesearch=7)
    assert plan(algorithm="owlqn", num_memories=np.int64(4)).solver == OWLQN(pairs=4)


def test_a_solver_object_is_taken_as_it_is_with_our_stopping_rules():
    solver = LBFGS(pairs=9)
    assert plan(algorithm=solver).solver is solver
    assert plan(algorithm=solver).stop == (OURS, CertifiedGap(1e-3))


@pytest.mark.parametrize(
    ("parameters", "goals"),
    [
        ({"tol": 1e-5}, [CertifiedGap(1e-5)]),
        ({"tol": 1e-5, "algorithm": "lbfgs"}, [CertifiedGap(1e-5)]),
        ({"tol": 1e-5, "delta": 1e-7}, [CertifiedGap(1e-5), Improvement(10, 1e-7)]),
        ({"tol": 1e-5, "period": 3}, [CertifiedGap(1e-5), Improvement(3, 1e-5)]),
        ({"tol": 1e-5, "epsilon": 1e-4}, [CertifiedGap(1e-5), GradientRatio(1e-4)]),
        ({"delta": 1e-7}, [Improvement(10, 1e-7), GradientRatio(1e-5)]),
        ({"epsilon": 1e-7, "algorithm": "lbfgs"}, [Improvement(10, 1e-5), GradientRatio(1e-7)]),
        ({"c2": 0.0}, [CertifiedGap(1e-3), *CRFSUITE_GOALS]),
        ({"c2": 0.0, "tol": 1e-5}, [CertifiedGap(1e-5), *CRFSUITE_GOALS]),
        ({"c2": 0.0, "c1": 1.0}, [CertifiedGap(1e-3), *CRFSUITE_GOALS]),  # L1 alone is proved loosely
        ({"c2": 0.0, "c1": 1.0, "tol": 1e-3}, [CertifiedGap(1e-3)]),
        ({"gradient_tol": 0.05}, [GradientNorm(0.05)]),
        ({"gradient_tol": 0.05, "algorithm": "lbfgs"}, [GradientNorm(0.05)]),
        ({"mean_gradient_tol": 1e-4, "c2": 0.0}, [GradientNorm(1e-4, per_sequence=True)]),
        ({"mean_gradient_tol": 1e-4, "tol": 1e-5}, [GradientNorm(1e-4, per_sequence=True), CertifiedGap(1e-5)]),
        ({"gradient_tol": 0.05, "epsilon": 1e-4}, [GradientNorm(0.05), GradientRatio(1e-4)]),
    ],
    ids=str,
)
def test_tol_and_crfsuites_three_combine_as_documented(parameters, goals):
    assert list(plan(**parameters).stop[1:]) == goals


def test_limits_are_those_given():
    assert plan(max_iterations=7, max_passes=2.5).stop[:2] == (MaxIterations(7), MaxPasses(2.5))
    assert plan(algorithm="lbfgs", max_iterations=7.0).stop[0] == MaxIterations(7)


@pytest.mark.parametrize("name", [*CRFSUITE, "averaged-perceptron", "passive-aggressive"])
def test_crfsuites_algorithms_are_there(name):
    assert plan(algorithm=name).solver.name == SYNONYMS.get(name, name)


def test_a_stopping_rule_that_crfsuite_does_not_have_is_refused():
    """l2sgd knows no epsilon, ap no period: as in CRFsuite, they say so."""
    assert Improvement(10, 1e-6) in plan(algorithm="l2sgd").stop
    assert plan(algorithm="AP", c2=0).stop == (Epochs(100), MeanLoss(0.0))
    with pytest.raises(ValueError, match="does not know the parameter epsilon=1"):
        plan(algorithm="l2sgd", epsilon=1)
    with pytest.raises(ValueError, match="does not know the parameter period=3"):
        plan(algorithm="averaged-perceptron", period=3)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"algorithm": "foo"}, "There is no algorithm 'foo'; use one of auto, lbfgs"),
        ({"algorithm": 3}, "algorithm must be a name or a solver object, such as LBFGS(pairs=10); got 3."),
        ({"algorithm": LBFGS}, "algorithm must be a name or a solver object"),
        ({"algorithm": LBFGS(), "num_memories": 3}, "num_memories=3 has no effect on a Solver object"),
        ({"algorithm": LBFGS(), "linesearch": "Backtracking"}, "linesearch='Backtracking' has no effect on a Solver"),
        ({"calibration_eta": 0.1}, "auto does not know the parameter calibration_eta=0.1; leave it None"),
        ({"pa_type": 0, "c1": 1.0}, "auto does not know the parameter pa_type=0"),
        ({"linesearch": "Newton"}, "linesearch must be one of MoreThuente, Backtracking, StrongBacktracking"),
        ({"algorithm": "sag", "num_memories": 3}, "sag does not know the parameter num_memories=3; leave it None"),
        ({"num_memories": 0}, "pairs must be a whole number of at least 1"),
        ({"c1": -1}, "c1 must be a finite number of at least 0; got c1=-1."),
        ({"c2": "1"}, "c2 must be a finite number of at least 0; got c2='1'."),
        ({"c2": float("nan")}, "c2 must be a finite number of at least 0; got c2=nan."),
        ({"c2": True}, "c2 must be a finite number of at least 0; got c2=True."),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1; got max_iterations=0."),
        ({"max_iterations": 1.5}, "max_iterations must be a whole number of at least 1; got max_iterations=1.5."),
        ({"max_passes": 0}, "max_passes must be a finite number above 0; got max_passes=0."),
        ({"tol": -1e-3}, "tol must be a finite number of at least 0; got tol=-0.001."),
        ({"period": -1}, "period must be a whole number of at least 0; got period=-1."),
        ({"delta": None, "epsilon": "small"}, "epsilon must be a finite number of at least 0; got epsilon='small'."),
        ({"random_state": "lucky"}, "random_state must be a whole number of at least 0; got random_state='lucky'."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        plan(**parameters)


def test_the_seed_is_0_by_default_and_drawn_from_generators():
    assert seed_of(None) == 0
    assert seed_of(np.int64(7)) == 7
    assert seed_of(np.random.RandomState(3)) == seed_of(np.random.RandomState(3))
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))


def test_a_named_solver_with_a_seed_gets_it(monkeypatch):
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Stochastic(LBFGS):
        seed: int = 5

    monkeypatch.setattr("fastcrf.solvers.quasi_newton.lbfgs.Stochastic", Stochastic, raising=False)
    monkeypatch.setitem(
        registry.REGISTRY, "stochastic", registry.Line("fastcrf.solvers.quasi_newton.lbfgs", "Stochastic")
    )
    assert plan(algorithm="stochastic").solver.seed == 0
    assert plan(algorithm="stochastic", random_state=11).solver.seed == 11


def test_callbacks_are_a_list_of_functions():
    assert functions("callbacks", None) == ()
    assert functions("callbacks", [print]) == (print,)
    for wrong in (print, 3, ["stop"]):
        with pytest.raises(ValueError, match="callbacks must be a list of functions"):
            functions("callbacks", wrong)
