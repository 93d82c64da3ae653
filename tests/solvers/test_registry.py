"""The registry, and mismatches as sentences."""

from __future__ import annotations

import json
import pickle

import pytest

from fastcrf.exceptions import PenaltyError
from fastcrf.solvers import registry
from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.solvers.quasi_newton.owlqn import OWLQN
from reference.toy_problem import ToyProblem


def test_a_solver_is_made_by_name_with_its_options():
    assert registry.make("lbfgs", pairs=12) == LBFGS(pairs=12)


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(ValueError, match="There is no solver 'xyz'; use one of auto, lbfgs, owlqn"):
        registry.make("xyz")


def test_an_unknown_option_is_answered_with_the_options_there_are():
    with pytest.raises(ValueError, match="lbfgs has no option 'm'; use one of pairs, max_linesearch"):
        registry.make("lbfgs", m=3)


def test_a_preset_is_a_registry_line(monkeypatch):
    preset = registry.Line("fastcrf.solvers.quasi_newton.lbfgs", "LBFGS", {"pairs": 100})
    monkeypatch.setitem(registry.REGISTRY, "lbfgs-100", preset)
    assert registry.make("lbfgs-100") == LBFGS(pairs=100)
    assert registry.make("lbfgs-100", max_linesearch=5) == LBFGS(pairs=100, max_linesearch=5)
    assert registry.describe("lbfgs-100")["options"] == {"pairs": 100, "max_linesearch": 20, "preconditioner": "none"}


def test_a_preset_carries_its_own_name_in_rows_and_messages(monkeypatch):
    preset = registry.Line("fastcrf.solvers.quasi_newton.lbfgs", "LBFGS", {"pairs": 100})
    monkeypatch.setitem(registry.REGISTRY, "lbfgs-100", preset)
    solver = registry.make("lbfgs-100")
    assert (solver.name, registry.make("lbfgs").name, LBFGS().name) == ("lbfgs-100", "lbfgs", "lbfgs")
    assert pickle.loads(pickle.dumps(solver)).name == "lbfgs-100"
    with pytest.raises(ValueError, match="lbfgs-100: pairs must be a whole number"):
        registry.make("lbfgs-100", pairs=0)
    with pytest.raises(ValueError, match="lbfgs-100 has no L1 penalty"):
        registry.check(ToyProblem(c1=0.5, c2=1.0), solver)


def test_penalties_default_to_what_the_solver_is_for():
    assert registry.default_penalty(LBFGS()) == (0.0, 1.0)
    assert registry.default_penalty(OWLQN()) == (1.0, 0.0)


@pytest.mark.parametrize("solver", [LBFGS(), OWLQN()])
def test_a_matching_penalty_passes_the_check(solver):
    registry.check(ToyProblem(*registry.default_penalty(solver)), solver)


def test_a_penalty_that_the_solver_does_not_handle_is_one_sentence_with_the_remedy():
    with pytest.raises(PenaltyError, match=r"^owlqn requires an L1 penalty, but c1=0: set c1 > 0, or use lbfgs\.$"):
        registry.check(ToyProblem(c1=0.0, c2=1.0), OWLQN())
    with pytest.raises(PenaltyError, match=r"^lbfgs has no L1 penalty, but c1=0\.5: set c1=0\.$"):
        registry.check(ToyProblem(c1=0.5, c2=1.0), LBFGS())


def test_a_capability_that_the_problem_lacks_is_one_sentence():
    class Needy(LBFGS):
        needs = frozenset({"gradient", "sequences"})

    with pytest.raises(
        ValueError, match="lbfgs requires a problem that provides sequences; this one provides gradient"
    ):
        registry.check(ToyProblem(), Needy())


def test_the_listing_is_plain_data_with_paper_penalties_needs_and_defaults():
    listing = json.loads(json.dumps([registry.describe(name) for name in registry.names()]))
    owlqn = next(entry for entry in listing if entry["name"] == "owlqn")
    assert owlqn["paper"].startswith("Andrew & Gao (2007)")
    assert owlqn["penalties"] == ["l1", "l1+l2"]
    assert owlqn["needs"] == ["gradient"]
    assert owlqn["options"] == {"pairs": 6, "max_linesearch": 20, "preconditioner": "none"}
