"""Sums over long vectors against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastcrf.vectors import add_scaled, dot, dot_with_three, norm


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_sums_equal_those_of_numpy(n):
    a, b, c, d = np.random.default_rng(n).normal(size=(4, n))
    assert dot(a, b) == pytest.approx(a @ b, rel=1e-12)
    assert norm(a) == pytest.approx(math.sqrt(a @ a), rel=1e-12)
    assert dot_with_three(a, b, c, d) == pytest.approx((a @ b, a @ c, a @ d), rel=1e-12)
    total = b.copy()
    add_scaled(0.5, a, total)
    np.testing.assert_allclose(total, b + 0.5 * a, rtol=1e-12)


def test_a_nan_is_not_lost():
    assert math.isnan(dot(np.array([1.0, math.nan]), np.ones(2)))
