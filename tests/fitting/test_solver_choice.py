"""Which solvers to compare."""

from __future__ import annotations

import pytest

from fastcrf.fitting.solver_choice import able_solvers, usual_solvers


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.0)])
def test_the_usual_solvers_are_a_handful_of_those_that_handle_the_penalty(c1, c2):
    usual, able = usual_solvers(c1, c2), able_solvers(c1, c2)
    assert 1 <= len(usual) < len(able)
    assert set(usual) <= set(able)
