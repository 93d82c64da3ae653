"""RPROP against the paper's rule, weight by weight."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf.solvers.registry import make
from reference.plain_descent import rprop
from reference.toy_problem import ToyProblem


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 0.0), (0.0, 0.5), (1.0, 0.0), (5.0, 0.5)])
@pytest.mark.parametrize("name", ["rprop", "rprop-"])
def test_every_iterate_equals_the_plain_algorithm(c1, c2, name):
    toy = ToyProblem(c1=c1, c2=c2)
    plain = rprop(toy, np.zeros(toy.n_weights), 40, backtrack=name == "rprop")
    ours = [step.weights for step in islice(make(name).iterate(toy, np.zeros(toy.n_weights)), 41)]
    np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-14)


def test_steps_stay_within_their_limits():
    toy = ToyProblem()
    solver = make("rprop", shortest=0.05, longest=0.2)
    for step in islice(solver.iterate(toy, np.zeros(toy.n_weights)), 40):
        assert step.state["steps"].min() >= 0.05
        assert step.state["steps"].max() <= 0.2
