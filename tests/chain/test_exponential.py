import numpy as np

from fastcrf.chain.exponential import exponentiate


def test_exponentiate_equals_exp_to_the_last_digits():
    x = np.concatenate((np.linspace(-699, 3, 20001), -np.logspace(-20, 2, 500), [0.0]))
    expected = np.exp(x)
    exponentiate(x)
    np.testing.assert_allclose(x, expected, rtol=8e-16)


def test_exponentiate_touches_only_its_stretch_and_never_underflows_to_zero():
    x = np.array([1.0, -1e300, -800.0, 2.0])
    exponentiate(x[1:3])
    assert x[0] == 1.0
    assert x[3] == 2.0
    assert (x[1:3] > 0).all()
    assert (x[1:3] < 1e-300).all()
