"""What an estimator's parameters mean: solver, penalty, stopping rules, and errors for what does not fit together."""

from __future__ import annotations

import inspect
import re
from itertools import pairwise

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.core.checks import functions, seed_of
from fastcrf.exceptions import PenaltyError
from fastcrf.fitting.plan import Plan, check_held_out, make_plan
from fastcrf.solvers import registry
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.margin.perceptron import Perceptron
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from fastcrf.solvers.sag.sag import SAG
from fastcrf.stopping import (
    CertifiedGap,
    EarlyStopping,
    GradientNorm,
    MaxIterations,
    MaxPasses,
    MaxSeconds,
    RelativeDecrease,
)

LIMIT = MaxIterations(1000)
AIMING = Auto(target=1e-3, seed=0)  # exact rules are absent, so iterations may be in single precision until then


def test_by_default_auto_trains_to_a_certified_gap_with_an_l2_penalty():
    assert make_plan() == Plan(AIMING, 0.0, 1.0, (CertifiedGap(1e-3), LIMIT), 1e-3)


def test_the_defaults_are_those_of_crf():
    ours, theirs = (inspect.signature(function).parameters for function in (make_plan, CRF))
    assert {name: p.default for name, p in ours.items()} == {name: theirs[name].default for name in ours}


@pytest.mark.parametrize("penalty", [{}, {"c2": 0.0}, {"c1": 0.5}, {"c1": 0.5, "c2": 0.0}], ids=str)
@pytest.mark.parametrize("stopping", [(), (EarlyStopping(),), (GradientNorm(0.1),)], ids=str)
@pytest.mark.parametrize("name", ["auto", "lbfgs", "sag-nus-star", "adagrad"])
def test_a_name_and_its_object_have_the_same_plan(name, stopping, penalty):
    if penalty.get("c1") and name == "sag-nus-star":
        pytest.skip("it has no L1 penalty")
    given = {"stopping": stopping, "tol": 1e-4, **penalty}
    assert make_plan(name, **given) == make_plan(registry.make(name), **given)


def test_an_l1_penalty_makes_owlqn_of_lbfgs_with_the_same_options():
    assert make_plan("lbfgs", c1=0.5).solver == OWLQN()
    assert make_plan(LBFGS(pairs=9), c1=0.5).solver == OWLQN(pairs=9)
    assert make_plan(LBFGS(pairs=9)).solver == LBFGS(pairs=9)
    assert make_plan("auto", c1=0.5).solver == AIMING


@pytest.mark.parametrize(
    ("parameters", "rules"),
    [
        ({"tol": 1e-5}, [CertifiedGap(1e-5)]),
        ({"tol": 1e-6, "c2": 0.0}, [CertifiedGap(1e-6), RelativeDecrease(1e-8)]),
        ({"c1": 1.0, "c2": 0.0}, [CertifiedGap(1e-3), RelativeDecrease(1e-5)]),
        ({"algorithm": "perceptron", "c2": 0.0}, [RelativeDecrease(1e-5)]),
        ({"algorithm": "ngd"}, [RelativeDecrease(1e-5)]),
        ({"algorithm": "perceptron", "c2": 0.0, "tol": None}, []),
        ({"tol": None, "c2": 0.0, "stopping": [GradientNorm(0.1)]}, [GradientNorm(0.1)]),
        ({"c2": 0.0, "stopping": [GradientNorm(0.1)]}, [CertifiedGap(1e-3), GradientNorm(0.1)]),
        ({"c2": 0.0, "stopping": [RelativeDecrease(0.1)]}, [CertifiedGap(1e-3), RelativeDecrease(0.1)]),
        (
            {"c2": 0.0, "stopping": (MaxPasses(5),)},
            [CertifiedGap(1e-3), RelativeDecrease(1e-5), MaxPasses(5)],
        ),
        ({"stopping": [MaxPasses(5), EarlyStopping()]}, [CertifiedGap(1e-3), MaxPasses(5), EarlyStopping()]),
    ],
    ids=str,
)
def test_tol_is_a_certified_gap_with_one_fallback_and_further_rules_follow(parameters, rules):
    found = make_plan(**parameters).stop
    assert [*map(repr, found)] == [*map(repr, [*rules, LIMIT])]


def test_limits_are_those_given():
    stop = make_plan(max_iterations=7.0, max_seconds=2.5).stop
    assert stop == (CertifiedGap(1e-3), MaxIterations(7), MaxSeconds(2.5))
    assert make_plan(max_iterations=None).stop == (CertifiedGap(1e-3),)


def test_a_plan_has_a_goal_unless_only_limits_end_it():
    assert make_plan().has_goal
    assert make_plan(tol=None, stopping=[GradientNorm(0.1)]).has_goal
    assert not make_plan(tol=None, stopping=[MaxPasses(3), EarlyStopping()]).has_goal


@pytest.mark.parametrize("exact", [{"stopping": [GradientNorm(0.1)]}, {"c1": 1.0, "c2": 0.0}, {"tol": None}], ids=str)
def test_auto_is_exact_from_the_start_where_a_rule_reads_every_iteration_or_nothing_is_aimed_at(exact):
    assert make_plan(**exact).solver == Auto(seed=0)
    assert make_plan(Auto(target=0.1), **exact).solver == Auto(seed=0)


def test_auto_aims_at_tol_whatever_else_ends_training():
    assert make_plan(tol=1e-5).solver == make_plan(Auto(), tol=1e-5).solver == Auto(target=1e-5, seed=0)
    assert make_plan(stopping=[EarlyStopping()], max_seconds=3).solver == AIMING
    assert make_plan(Auto(target=0.1)).solver == Auto(target=0.1, seed=0)


def test_on_a_cluster_auto_is_quasi_newton():
    assert make_plan(engine="dask").solver == make_plan(Auto(), engine="dask").solver == LBFGS()
    assert make_plan(engine="dask", c1=0.5).solver == OWLQN()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "lbgfs"}, "There is no solver 'lbgfs'; did you mean 'lbfgs'?"),
        ({"algorithm": "LBFGS"}, "There is no solver 'LBFGS'; did you mean 'lbfgs'?"),
        ({"algorithm": "zzz"}, "There is no solver 'zzz'; use one of auto, lbfgs"),
        ({"algorithm": 3}, "algorithm must be a name or a solver object, such as LBFGS(pairs=10); got 3."),
        ({"algorithm": LBFGS}, "algorithm is the class LBFGS; use an object: LBFGS()."),
        ({"c1": -1}, "c1 must be a finite number of at least 0; got c1=-1."),
        ({"c1": None}, "c1 must be a finite number of at least 0; got c1=None."),
        ({"c2": "1"}, "c2 must be a finite number of at least 0; got c2='1'."),
        ({"c2": float("nan")}, "c2 must be a finite number of at least 0; got c2=nan."),
        ({"c2": True}, "c2 must be a finite number of at least 0; got c2=True."),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1; got max_iterations=0."),
        ({"max_iterations": 1.5}, "max_iterations must be a whole number of at least 1; got max_iterations=1.5."),
        ({"max_seconds": 0}, "max_seconds must be a finite number above 0; got max_seconds=0."),
        ({"tol": -1e-3}, "tol must be a finite number of at least 0; got tol=-0.001."),
        ({"random_state": "lucky"}, "random_state must be a whole number of at least 0; got random_state='lucky'."),
        ({"tol": None, "max_iterations": None}, "Training would never end: set tol, max_iterations, max_seconds or"),
        ({"stopping": EarlyStopping()}, "write stopping=[EarlyStopping(patience=5, score='accuracy')]."),
        ({"stopping": [EarlyStopping]}, "stopping must be a sequence of rules of fastcrf.stopping; got stopping=["),
        ({"stopping": None}, "stopping must be a sequence of rules of fastcrf.stopping; got stopping=None."),
        ({"stopping": "soon"}, "stopping must be a sequence of rules of fastcrf.stopping; got stopping='soon'."),
        ({"stopping": [EarlyStopping(score="f1")]}, "EarlyStopping's score must be one of accuracy, segment_f1; got"),
        (
            {"algorithm": "perceptron", "c2": 0.0, "stopping": [GradientNorm(0.1)]},
            "perceptron does not minimize the objective; remove GradientNorm(tol=0.1",
        ),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_an_error_with_a_remedy(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_plan(**parameters)


@pytest.mark.parametrize(
    ("name", "c1", "c2", "message"),
    [
        ("perceptron", 0, 1, "perceptron has no penalty, but c2=1: set c2=0."),
        ("perceptron", 0.5, 1, "perceptron has no penalty, but c1=0.5 and c2=1: set c1=0 and c2=0."),
        ("owlqn", 0, 1, "owlqn requires an L1 penalty, but c1=0: set c1 > 0, or use lbfgs."),
        ("sgd-l1", 1, 1, "sgd-l1 has no L2 penalty, but c2=1: set c2=0."),
        ("sag", 0.1, 1, "sag has no L1 penalty, but c1=0.1: set c1=0."),
        ("l2sgd", 0, 0, "l2sgd requires an L2 penalty, but c2=0: set c2 > 0."),
        ("psa", 1, 1, "psa cannot combine L1 and L2 penalties, but c2=1: set c2=0."),
    ],
)
def test_a_penalty_that_a_solver_cannot_handle_names_the_one_change(name, c1, c2, message):
    for algorithm in (name, registry.make(name)):
        with pytest.raises(PenaltyError, match=f"^{re.escape(message)}$") as caught:
            make_plan(algorithm, c1=c1, c2=c2)
        assert (caught.value.solver, caught.value.c1, caught.value.c2) == (name, c1, c2)


def test_following_the_message_of_a_penalty_error_helps():
    for name in registry.names():
        for c1, c2 in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)):
            given = {"c1": c1, "c2": c2}
            try:
                make_plan(name, **given)
            except PenaltyError as error:
                changes = re.findall(r"(c[12])(=0| > 0)", str(error).rpartition(": set ")[2])
                assert changes
                make_plan(name, **given | {penalty: 0.0 if change == "=0" else 1.0 for penalty, change in changes})


def test_early_stopping_requires_held_out_data():
    plan = make_plan(stopping=[EarlyStopping(patience=3)])
    check_held_out(plan, has_dev=True)
    check_held_out(make_plan(), has_dev=False)
    with pytest.raises(ValueError, match=r"EarlyStopping\(patience=3.* requires held-out data; pass X_dev and y_dev"):
        check_held_out(plan, has_dev=False)


def test_the_seed_is_a_number_or_drawn_from_a_generator():
    assert seed_of(np.int64(7)) == 7
    assert seed_of(np.random.RandomState(3)) == seed_of(np.random.RandomState(3))
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))
    assert any(a != b for a, b in pairwise(seed_of(None) for _ in range(5)))


def test_a_named_solver_with_a_seed_gets_it():
    assert make_plan("sag").solver == SAG(seed=0)
    assert make_plan("sag", random_state=11).solver == SAG(seed=11)
    assert make_plan(SAG(seed=5), random_state=11).solver == SAG(seed=5)
    assert make_plan("perceptron", c2=0.0, random_state=4).solver == Perceptron(seed=4)


def test_callbacks_are_a_list_of_functions():
    assert functions("callbacks", ()) == ()
    assert functions("callbacks", [print]) == (print,)
    for wrong in (print, 3, ["stop"]):
        with pytest.raises(ValueError, match="callbacks must be a list of functions"):
            functions("callbacks", wrong)
