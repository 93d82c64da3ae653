"""Sums over long vectors against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastcrf.simd.vectors import dot, norm


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_sums_equal_those_of_numpy(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    assert dot(a, b) == pytest.approx(a @ b, rel=1e-12)
    assert norm(a) == pytest.approx(math.sqrt(a @ a), rel=1e-12)


def test_a_nan_is_not_lost():
    assert math.isnan(dot(np.array([1.0, math.nan]), np.ones(2)))
