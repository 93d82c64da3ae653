"""The root of a scaling step, over all magnitudes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.solvers.iterative_scaling.roots import grouped_root
from fastcrf.solvers.iterative_scaling.scaling_root import LARGEST_CHANGE, scaling_root

positive = st.floats(-25, 12).map(lambda exponent: 10.0**exponent)
signed = st.tuples(positive, st.sampled_from([-1.0, 1.0])).map(math.prod)


def relative_residual(terms, target):
    return abs(sum(terms) - target) / max(*map(abs, terms), abs(target))


@given(positive, positive, st.one_of(signed, st.just(0.0)))
def test_a_penalized_root_solves_its_equation(expected, ridge, target):
    u = scaling_root(expected, ridge, target)
    terms = expected * math.exp(u), ridge * u
    assert relative_residual(terms, target) < 1e-13 * max(1.0, abs(u))


@given(positive, positive)
def test_without_a_penalty_the_root_is_a_logarithm_within_limits(expected, target):
    wanted = min(max(math.log(target / expected), -LARGEST_CHANGE), LARGEST_CHANGE)
    assert scaling_root(expected, 0.0, target) == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def test_a_weak_penalty_is_nearly_none():
    assert scaling_root(3.0, 1e-290, 5.0) == pytest.approx(math.log(5 / 3), rel=1e-14)


@pytest.mark.parametrize("target", [0.0, -5.0, 1e-12, 2.0, 1e9])
@pytest.mark.parametrize("ridge", [1e-9, 1.0, 1e9])
def test_it_is_wrights_omega(target, ridge):
    special = pytest.importorskip("scipy.special")
    omega = special.wrightomega(math.log(0.7 / ridge) + target / ridge)
    size = abs(target / ridge)
    assert scaling_root(0.7, ridge, target) == pytest.approx(target / ridge - omega, rel=1e-9, abs=1e-12 * max(1, size))


def test_what_neither_is_expected_nor_occurs_goes_where_the_penalty_wants_it():
    assert scaling_root(0.0, 0.0, 0.0) == 0.0
    assert scaling_root(0.0, 2.0, -3.0) == -1.5
    assert scaling_root(1.0, 0.0, 0.0) == -LARGEST_CHANGE


SUMS = np.array([2.0, 30.0, 400.0])


@given(st.lists(positive, min_size=3, max_size=3), st.one_of(positive, st.just(0.0)), signed)
def test_a_root_over_groups_solves_its_equation(expected, ridge, target):
    if ridge == 0.0 and (target < 0.0 or abs(math.log(target / sum(expected))) > 15):
        return
    d = grouped_root(np.repeat(expected, 2)[::2], SUMS, ridge, target)  # a column, as the kernel's caller has it
    terms = [count * math.exp(total * d) for count, total in zip(expected, SUMS, strict=True)]
    assert relative_residual([*terms, ridge * d], target) < 1e-11 * max(1.0, abs(400.0 * d))
