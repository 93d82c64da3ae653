"""Solver objects: imports, repr, equality, help, seeds, and what is said of wrong names, options and penalties."""

from __future__ import annotations

import dataclasses
import pickle
import re
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

import fastcrf.solvers
from fastcrf import CRF
from fastcrf.exceptions import OptionError, PenaltyError
from fastcrf.solvers import LBFGS, OWLQN, SAG, AdaGrad, Auto, Perceptron, make, registry
from fastcrf.solvers.declaration import entries_of, solver
from reference.contract_checks import small_problem

CLASSES = sorted({line.attribute for line in registry.REGISTRY.values()})
X, Y = [[["a"], ["b"]], [["b"], ["a"]]], [["P", "Q"], ["Q", "P"]]


def second_step(problem, solver_object):
    return next(islice(solver_object.iterate(problem, np.zeros(problem.n_weights)), 1, None))


def test_every_class_of_the_registry_is_exported():
    exported = fastcrf.solvers.__all__
    assert sorted(exported) == sorted([*CLASSES, "Solver", "make", "names"])
    for name in CLASSES:
        assert getattr(fastcrf.solvers, name) is registry.class_named(name)
    assert set(dir(fastcrf.solvers)) == set(fastcrf.solvers.__all__)


def test_an_unknown_class_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'fastcrf\.solvers' has no attribute 'LBGFS'"):
        _ = fastcrf.solvers.LBGFS


def test_importing_the_package_and_listing_names_import_no_numba():
    code = "import sys, fastcrf.solvers; fastcrf.solvers.names(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "fastcrf.solvers.registry" in loaded
    assert "numba" not in loaded


@pytest.mark.parametrize("name", CLASSES)
def test_help_explains_every_option_of_a_solver(name):
    cls = registry.class_named(name)
    explained = dict(entries_of(cls.__doc__))
    assert list(explained) == [field.name for field in dataclasses.fields(cls)]
    assert all(len(text.split()) > 1 for text in explained.values())
    for field in dataclasses.fields(cls):
        assert f"\n{field.name} : {field.type}, default {field.default!r}\n" in cls.__doc__
    assert re.match(r"[A-Z][^\n]+\.\n", cls.__doc__ + "\n"), "a summary of one line"


def test_an_option_without_an_explanation_would_be_noticed():
    @solver
    class Silent(LBFGS):
        """Say nothing of an option."""

        extra: int = 0

    assert list(dict(entries_of(Silent.__doc__))) == ["pairs", "max_linesearch", "preconditioner"]
    assert "\nextra : int, default 0" in Silent.__doc__


def test_repr_shows_the_options_that_differ_from_the_defaults():
    assert repr(LBFGS()) == "LBFGS()"
    assert repr(LBFGS(pairs=20, max_linesearch=20)) == "LBFGS(pairs=20)"
    assert repr(make("sg")) == "SGD(calibration='powers', schedule='constant')"


def test_solvers_are_equal_by_class_and_options():
    assert LBFGS(pairs=6) == LBFGS()
    assert hash(LBFGS(pairs=6)) == hash(LBFGS())
    assert LBFGS(pairs=7) != LBFGS()
    assert LBFGS() != OWLQN()
    assert make("sg") == fastcrf.solvers.SGD(schedule="constant", calibration="powers")
    assert pickle.loads(pickle.dumps(SAG(batch_size=3))) == SAG(batch_size=3)


def test_a_solver_takes_keywords_and_never_changes():
    with pytest.raises(TypeError):
        LBFGS(20)
    with pytest.raises(dataclasses.FrozenInstanceError):
        LBFGS().pairs = 20


@pytest.mark.parametrize("name", registry.names())
def test_a_seed_is_open_until_a_run_gives_one(name):
    made = make(name)
    if hasattr(made, "seed"):
        assert made.seed is None
        assert registry.with_seed(made, 5).seed == 5
        assert registry.with_seed(made, 5).name == name
        assert registry.with_seed(make(name, seed=3), 5).seed == 3
        with pytest.raises(OptionError, match=f"{name}: seed must be a whole number of at least 0; got seed=-1"):
            make(name, seed=-1)
    else:
        assert registry.with_seed(made, 5) is made


def test_without_a_seed_a_run_is_that_of_seed_zero():
    problem = small_problem("l2").problem
    ours, theirs, other = (second_step(problem, each).weights for each in (SAG(), SAG(seed=0), SAG(seed=1)))
    np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(ours, other)


def test_lbfgs_runs_as_owlqn_with_its_options_where_there_is_an_l1_penalty():
    assert LBFGS(pairs=9).for_penalty(0.5, 1.0) == OWLQN(pairs=9)
    assert LBFGS(pairs=9).for_penalty(0.0, 1.0) == LBFGS(pairs=9)
    assert registry.for_penalty(Auto(), 0.5, 1.0) == Auto()
    by_object, by_name = (CRF(each, c1=0.1, c2=0.1, tol=1e-9).fit(X, Y) for each in (LBFGS(), "owlqn"))
    assert [row["objective"] for row in by_object.history_] == [row["objective"] for row in by_name.history_]


def test_wrong_names_and_options_are_answered_with_the_nearest_ones():
    with pytest.raises(ValueError, match=r"There is no solver 'lbgfs'; did you mean 'lbfgs'\?"):
        make("lbgfs")
    with pytest.raises(OptionError, match=r"lbfgs has no option 'pair'; did you mean 'pairs'\?") as caught:
        make("lbfgs", pair=3)
    assert (caught.value.solver, caught.value.option, caught.value.value) == ("lbfgs", "pair", 3)
    with pytest.raises(OptionError, match=r"no option 'm'; use one of pairs, max_linesearch, preconditioner\."):
        registry.changed(LBFGS(), m=3)


def test_a_class_in_place_of_an_object_is_named_with_the_remedy():
    with pytest.raises(ValueError, match=r"algorithm is the class LBFGS; use an object: LBFGS\(\)\."):
        CRF(LBFGS).fit(X, Y)


PENALTY_FAULTS = [
    (Perceptron(), 0, 1, "perceptron has no penalty, but c2=1: set c2=0."),
    (Perceptron(), 0.5, 1, "perceptron has no penalty, but c1=0.5 and c2=1: set c1=0 and c2=0."),
    (OWLQN(), 0, 1, "owlqn requires an L1 penalty, but c1=0: set c1 > 0, or use lbfgs."),
    (LBFGS(), 0.5, 1, "lbfgs has no L1 penalty, but c1=0.5: set c1=0."),
    (make("sgd-l1"), 0.5, 1, "sgd-l1 has no L2 penalty, but c2=1: set c2=0."),
    (make("l2sgd"), 0, 0, "l2sgd requires an L2 penalty, but c2=0: set c2 > 0."),
    (make("l2sgd"), 0.5, 0, "l2sgd has no L1 penalty, but c1=0.5 and requires an L2 penalty, but c2=0"),
    (make("bcd"), 0, 0, "bcd requires an L1 penalty, but c1=0: set c1 > 0, or use lbfgs."),
    (make("psa"), 0.5, 1, "psa cannot combine L1 and L2 penalties, but c2=1: set c2=0."),
]


@pytest.mark.parametrize(("solver_object", "c1", "c2", "message"), PENALTY_FAULTS)
def test_a_penalty_that_a_solver_cannot_handle_is_answered_with_the_change_to_make(solver_object, c1, c2, message):
    with pytest.raises(PenaltyError, match=f"^{re.escape(message)}") as caught:
        registry.check_penalty(solver_object, c1, c2)
    assert (caught.value.solver, caught.value.c1, caught.value.c2) == (solver_object.name, c1, c2)


@pytest.mark.parametrize("name", registry.names())
def test_the_change_that_a_penalty_error_names_is_right(name):
    made = make(name)
    for c1, c2 in [(0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (0.5, 1.0)]:
        try:
            registry.check_penalty(made, c1, c2)
        except PenaltyError as error:
            advice = str(error).partition(": set ")[2]
        else:
            continue
        changes = dict.fromkeys(re.findall(r"(c[12])=0", advice), 0.0) | dict.fromkeys(
            re.findall(r"(c[12]) > 0", advice), 0.5
        )
        registry.check_penalty(made, *{"c1": c1, "c2": c2, **changes}.values())


def test_a_users_own_frozen_dataclass_is_still_a_solver():
    @dataclasses.dataclass(frozen=True)
    class Mine(AdaGrad):
        extra: int = 0

    assert registry.as_solver(Mine(extra=1)).extra == 1
