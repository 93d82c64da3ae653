"""The share that many proximal steps take off a weight, against logarithm and exponential function."""

from __future__ import annotations

import math

import numpy as np

from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.deferred_steps import BRIEF, SHORT, SMALL, share, shares
from fastcrf.simd.lanes import load, store
from reference.cases import for_each

LANES = (0,) * 4


@noalloc_kernel
def share_rows(missed, ratios, largest_ratio, lanes):
    """The share of one weight in row 1, that of lanes in row 2."""
    for k in range(len(lanes)):
        ratios[1, k] = share(missed, ratios[0, k], largest_ratio)
    store(ratios, 2, 0, shares(missed, load(ratios, 0, 0, lanes), largest_ratio, lanes))


@for_each("largest", [1e-12, 4.5e-5, BRIEF, SMALL, 1.01 * SMALL, 0.3, 40.0])
@for_each("missed", [1, 2, 7, 16, 17, 21, 22, 127, 129, 9000, 10**6])
def test_it_is_right_relative_to_itself(missed, largest):
    rows = np.zeros((3, 4))
    rows[0] = largest * np.array([1.0, 0.5, 1e-3, 0.0])
    share_rows(missed, rows, largest, LANES)
    expected = [-math.expm1(-missed * math.log1p(ratio)) for ratio in rows[0]]
    np.testing.assert_allclose(rows[1], expected, rtol=3e-14)
    np.testing.assert_allclose(rows[2], expected, rtol=3e-14)


def test_these_cases_lie_on_both_sides_of_its_limits():
    assert 21 * 4.5e-5 < BRIEF < 22 * 4.5e-5 < 1000 * 4.5e-5 < SHORT < 9000 * 4.5e-5 < 8 * SHORT < 10**6 * 4.5e-5
