"""The public exceptions: ValueErrors that keep what they are about, in other processes, too."""

from __future__ import annotations

import pickle

import pytest

from fastcrf import exceptions


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_exception_is_a_value_error(name):
    assert issubclass(getattr(exceptions, name), ValueError)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.OptionError("lbfgs: pairs must be at least 1.", "lbfgs", "pairs", 0),
        exceptions.PenaltyError("perceptron has no penalty.", "perceptron", 0.0, 1.0),
    ],
)
def test_an_exception_survives_pickling(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error) == error.args[0]
