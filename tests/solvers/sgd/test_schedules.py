"""Schedules against the formulas of the papers, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.solvers.sgd.schedules import NAMES, make_schedule

ETA, LAMBDA, UPDATES, OFFSET, DECAY = 0.3, 0.02, 7, 2.5, 0.85

FORMULAS = {
    "constant": lambda k: ETA,
    "sqrt": lambda k: ETA / math.sqrt(k + 1),
    "inverse": lambda k: ETA / (OFFSET + k + 1),
    "epoch": lambda k: ETA / (1 + k / UPDATES),
    "exponential": lambda k: ETA * math.pow(DECAY, k / UPDATES),
    "bottou": lambda k: 1 / (LAMBDA * (1 / (LAMBDA * ETA) + k)),
}


def schedule(name, lam=LAMBDA):
    return make_schedule(name, ETA, lam, UPDATES, OFFSET, DECAY)


def test_every_name_has_its_formula():
    assert set(FORMULAS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@given(first=st.integers(0, 10_000), n=st.integers(0, 30))
def test_step_sizes_are_those_of_the_formula(name, first, n):
    expected = [FORMULAS[name](k) for k in range(first, first + n)]
    np.testing.assert_allclose(schedule(name).over(first, n), expected, rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
@given(cut=st.integers(0, 20))
def test_a_run_in_two_parts_has_the_same_step_sizes_bit_for_bit(name, cut):
    whole = schedule(name).over(3, 20)
    parts = [schedule(name).over(3, cut), schedule(name).over(3 + cut, 20 - cut)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_without_a_penalty_bottous_step_size_is_constant():
    np.testing.assert_array_equal(schedule("bottou", lam=0.0).over(5, 3), [ETA] * 3)
