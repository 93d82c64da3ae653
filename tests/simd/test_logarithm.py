import numpy as np

from fastcrf.simd.logarithm import take_logarithms


def test_logarithms_are_right_to_the_last_digits():
    x = np.concatenate((np.logspace(-300, 300, 20001), np.linspace(0.5, 2.0, 20001), 1.0 + np.logspace(-15, -1, 500)))
    expected = np.log(x)
    take_logarithms(x)
    np.testing.assert_allclose(x, expected, rtol=1e-15, atol=0.0)


def test_logarithms_are_taken_of_nothing_but_the_slice():
    x = np.array([3.0, 1.0, 2.0, 3.0])
    take_logarithms(x[1:3])
    np.testing.assert_allclose(x, [3.0, 0.0, np.log(2.0), 3.0], rtol=1e-15)
