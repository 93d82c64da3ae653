"""A restored memory is compared with what its solver declares, before any kernel sees it."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.memory_contract import Declared, MemoryMismatch, check_memory

DECLARED = [
    Declared("weights", ("weights",)),
    Declared("seen", ("sequences",), np.bool_),
    Declared("order", ("sequences",), np.int64, low=0, high="sequences", distinct=True),
    Declared("rest", ("left",), np.int32, low=0, high="sequences"),
    Declared("steps", ("left",), low=0.0),
    Declared("table", ("slots", 2)),
    Declared("epoch", (), np.int64, low=0),
    Declared("scale", (), np.float64, low=1e-9, high=1e9),
    Declared("halved", (), np.bool_, optional=True),
]
SIZES = {"weights": 4, "sequences": 3, "slots": range(0, 5, 2)}


def memory(**changes):
    good = {
        "weights": np.zeros(4),
        "seen": np.zeros(3, np.bool_),
        "order": np.array([2, 0, 1]),
        "rest": np.array([1, 1], np.int32),
        "steps": np.ones(2),
        "table": np.zeros((4, 2)),
        "epoch": 7,
        "scale": 0.5,
        "halved": True,
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


@pytest.mark.parametrize("changes", [{}, {"halved": None}, {"table": np.zeros((0, 2))}, {"scale": 1}])
def test_what_is_declared_is_accepted(changes):
    check_memory(DECLARED, memory(**changes), SIZES)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"weights": None}, "lacks 'weights'"),
        ({"other": 1}, "has 'other', which its solver does not know"),
        ({"weights": np.zeros(1)}, "'weights' has 1 weights instead of 4"),
        ({"weights": np.zeros((4, 1))}, "'weights' is float64 of shape (4, 1) instead of an array of float64"),
        ({"weights": np.zeros(4, np.float32)}, "instead of an array of float64"),
        ({"weights": [0.0] * 4}, "instead of an array of float64"),
        ({"weights": np.array([0, np.nan, 0, 0])}, "all must be finite"),
        ({"weights": np.array([0, np.inf, 0, 0])}, "all must be finite"),
        ({"order": np.array([0, 1, 3])}, "'order' has numbers from 0 to 3, and all must be finite and from 0 to 2"),
        ({"order": np.array([0, -1, 1])}, "'order' has numbers from -1 to 1"),
        ({"order": np.array([0, 1, 1])}, "'order' has the same number twice"),
        ({"steps": np.ones(3)}, "'steps' has 3 left instead of 2"),
        ({"table": np.zeros((3, 2))}, "'table' has 3 slots instead of 0 to 4"),
        ({"table": np.zeros((6, 2))}, "'table' has 6 slots"),
        ({"table": np.zeros((2, 3))}, "'table' has 3 entries instead of 2"),
        ({"epoch": 1.5}, "'epoch' is 1.5 instead of a number of int64"),
        ({"epoch": True}, "'epoch' is True"),
        ({"epoch": -1}, "'epoch' is -1, which is not from 0 to inf"),
        ({"scale": float("nan")}, "'scale' is nan"),
        ({"scale": 1e308}, "'scale' is 1e+308"),
        ({"scale": "1"}, "'scale' is '1'"),
        ({"halved": 1}, "'halved' is 1"),
    ],
)
def test_what_is_not_is_one_sentence(changes, fault):
    with pytest.raises(MemoryMismatch) as refusal:
        check_memory(DECLARED, memory(**changes), SIZES)
    assert fault in str(refusal.value)
