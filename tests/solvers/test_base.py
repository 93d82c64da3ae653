"""The registry, and mismatches as sentences."""

from __future__ import annotations

import json

import pytest

from fastcrf.solvers import base
from fastcrf.solvers.lbfgs import LBFGS
from fastcrf.solvers.owlqn import OWLQN
from reference.toy_problem import ToyProblem


def test_a_solver_is_made_by_name_with_its_options():
    assert base.make("lbfgs", memory=12) == LBFGS(memory=12)


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(ValueError, match="There is no solver 'lbgfs'; the solvers are lbfgs, owlqn"):
        base.make("lbgfs")


def test_an_unknown_option_is_answered_with_the_options_there_are():
    with pytest.raises(ValueError, match="lbfgs has no option 'm'; its options are memory, max_linesearch"):
        base.make("lbfgs", m=3)


def test_a_preset_is_a_registry_line(monkeypatch):
    preset = base.Line("fastcrf.solvers.lbfgs", "LBFGS", {"memory": 100})
    monkeypatch.setitem(base.REGISTRY, "lbfgs-100", preset)
    assert base.make("lbfgs-100") == LBFGS(memory=100)
    assert base.make("lbfgs-100", max_linesearch=5) == LBFGS(memory=100, max_linesearch=5)
    assert base.describe("lbfgs-100")["options"] == {"memory": 100, "max_linesearch": 20}


def test_penalties_default_to_what_the_solver_is_for():
    assert base.default_penalty(LBFGS()) == (0.0, 1.0)
    assert base.default_penalty(OWLQN()) == (1.0, 0.0)


@pytest.mark.parametrize("solver", [LBFGS(), OWLQN()])
def test_a_matching_penalty_passes_the_check(solver):
    base.check(ToyProblem(*base.default_penalty(solver)), solver)


def test_a_penalty_that_the_solver_does_not_handle_is_one_sentence_with_the_remedy():
    with pytest.raises(ValueError, match=r"owlqn is for .* l1, l1\+l2, but .* l2 \(c1=0, c2=1\); .* or use lbfgs"):
        base.check(ToyProblem(c1=0.0, c2=1.0), OWLQN())
    with pytest.raises(ValueError, match=r"lbfgs is for .* none, l2, but .* l1\+l2 .* or use owlqn"):
        base.check(ToyProblem(c1=0.5, c2=1.0), LBFGS())


def test_a_capability_that_the_problem_lacks_is_one_sentence():
    class Needy(LBFGS):
        needs = frozenset({"gradient", "sequences"})

    with pytest.raises(ValueError, match="lbfgs needs sequences of the problem, which provides gradient"):
        base.check(ToyProblem(), Needy())


def test_the_listing_is_plain_data_with_paper_penalties_needs_and_defaults():
    listing = json.loads(json.dumps([base.describe(name) for name in base.names()]))
    owlqn = next(entry for entry in listing if entry["name"] == "owlqn")
    assert owlqn["paper"].startswith("Andrew & Gao (2007)")
    assert owlqn["penalties"] == ["l1", "l1+l2"]
    assert owlqn["needs"] == ["gradient"]
    assert owlqn["options"] == {"memory": 6, "max_linesearch": 20}
