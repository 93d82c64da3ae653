"""One place knows which solver runs."""

from __future__ import annotations

import pytest

from fastcrf.fitting.solver_choice import able_solvers, resolve_solver, usual_solvers


def test_an_l1_penalty_makes_owlqn_of_lbfgs():
    assert resolve_solver("lbfgs", c1=0.0) == "lbfgs"
    assert resolve_solver("lbfgs", c1=0.1) == "owlqn"


def test_every_other_name_stands_for_itself():
    assert resolve_solver("owlqn", c1=0.0) == "owlqn"
    assert resolve_solver("sag", c1=0.1) == "sag"
    assert resolve_solver("auto", c1=0.1) == "auto"


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.0)])
def test_the_usual_solvers_are_a_handful_of_those_that_handle_the_penalty(c1, c2):
    usual, able = usual_solvers(c1, c2), able_solvers(c1, c2)
    assert 1 <= len(usual) < len(able)
    assert set(usual) <= set(able)
