import numpy as np

from fastcrf.simd.exponential import exponentiate


def test_exponentiate_equals_exp_to_the_last_digits():
    x = np.concatenate((np.linspace(-699, 3, 20001), -np.logspace(-20, 2, 500), [0.0]))
    expected = np.exp(x)
    exponentiate(x)
    np.testing.assert_allclose(x, expected, rtol=8e-16)


def test_exponentiate_touches_only_its_slice_and_never_underflows_to_zero():
    x = np.array([1.0, -1e300, -800.0, 2.0])
    exponentiate(x[1:3])
    assert x[0] == 1.0
    assert x[3] == 2.0
    assert (x[1:3] > 0).all()
    assert (x[1:3] < 1e-300).all()


def test_in_single_precision_it_is_right_to_the_last_digit_and_on_neither_side():
    x = np.concatenate((np.linspace(-50, 0.3, 100001), -np.logspace(-20, 1, 500), [0.0])).astype(np.float32)
    expected = np.exp(x.astype(np.float64))
    exponentiate(x)
    errors = x / expected - 1.0
    assert np.abs(errors).max() < 1.5e-7
    assert abs(errors.mean()) < 1e-8  # hundreds of thousands of them are added up


def test_in_single_precision_nothing_is_below_what_products_can_bear():
    x = np.array([-1e30, -87.0, -50.0], np.float32)
    exponentiate(x)
    np.testing.assert_array_equal(x, x[2])
    assert x[0] * x[0] * np.float32(1e5) > 0.0
