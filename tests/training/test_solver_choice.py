"""One place knows which solver runs."""

from __future__ import annotations

import pytest

from fastcrf.training.solver_choice import able_solvers, solver_behind, usual_solvers


def test_an_l1_penalty_makes_owlqn_of_lbfgs():
    assert solver_behind("lbfgs", c1=0.0) == "lbfgs"
    assert solver_behind("lbfgs", c1=0.1) == "owlqn"


def test_every_other_name_stands_for_itself():
    assert solver_behind("owlqn", c1=0.0) == "owlqn"
    assert solver_behind("sag", c1=0.1) == "sag"
    assert solver_behind("auto", c1=0.1) == "auto"


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.0)])
def test_the_usual_solvers_are_a_handful_of_those_that_handle_the_penalty(c1, c2):
    usual, able = usual_solvers(c1, c2), able_solvers(c1, c2)
    assert 1 <= len(usual) < len(able)
    assert set(usual) <= set(able)
