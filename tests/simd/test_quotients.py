"""Inverse roots of lanes against NumPy's."""

from __future__ import annotations

import numpy as np

from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.lanes import load, store
from fastcrf.simd.quotients import inverse_root

LANES = (0,) * 4


@noalloc_kernel
def inverse_roots(numbers, lanes):
    """Of row 0, in row 1."""
    for b in range(0, numbers.shape[1], len(lanes)):
        store(numbers, 1, b, inverse_root(load(numbers, 0, b, lanes)))


def test_inverse_roots_are_right_to_the_last_places_whatever_the_magnitude():
    numbers = np.empty((2, 4000))
    random = np.random.default_rng(0)
    numbers[0] = random.uniform(1.0, 4.0, 4000) * 10.0 ** random.integers(-300, 300, 4000)
    inverse_roots(numbers, LANES)
    np.testing.assert_allclose(numbers[1], 1.0 / np.sqrt(numbers[0]), rtol=5e-16)


def test_of_zero_it_is_finite_so_that_its_product_with_zero_is_the_root():
    numbers = np.zeros((2, 4))
    inverse_roots(numbers, LANES)
    assert np.isfinite(numbers[1]).all()
