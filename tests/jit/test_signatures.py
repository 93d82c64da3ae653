"""Kernels that are compiled more often than they should be are told apart from those that may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from fastcrf.jit.generic import generic
from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.jit.kernel import noalloc_kernel
from signatures import forms, kinds


class Feet(NamedTuple):
    length: float


class Yards(NamedTuple):
    length: float
    bolts: np.ndarray


class Cloth(NamedTuple):
    sold: Feet | Yards
    price: np.ndarray


@generic
def metres(data):
    """In metres."""


@metres.register(Feet)
def metres_of_feet(data):
    return 0.3048 * data.length


@metres.register(Yards)
def metres_of_yards(data):
    return 0.9144 * data.length


del IMPLEMENTATIONS[metres]  # a toy: no test of all generic functions is to find it


@pytest.fixture
def worth(monkeypatch):
    monkeypatch.setitem(IMPLEMENTATIONS, metres, {Feet: metres_of_feet, Yards: metres_of_yards})

    @noalloc_kernel
    def worth(cloth, lanes):
        return metres(cloth.sold) * cloth.price[0] * len(lanes)

    return worth


def face(kernel):
    """The kernel as Python calls it."""
    return getattr(kernel, "for_python", kernel)


def seen(worth, *calls):
    """({signatures that count}, {type of data: its forms}) of a kernel after these calls."""
    for call in calls:
        worth(*call)
    signatures = face(worth).signatures
    found = {}
    for data, form in (pair for signature in signatures for pair in forms(signature)):
        found.setdefault(data, set()).add(form)
    return {kinds(signature) for signature in signatures}, found


PRICE, BOLTS, LANES = np.ones(4), np.zeros(3), (0, 0)


def test_types_of_data_lane_widths_and_precisions_count_as_one(worth):
    feet, yards = Cloth(Feet(1.0), PRICE), Cloth(Yards(1.0, BOLTS), PRICE)
    single = Cloth(Feet(1.0), PRICE.astype(np.float32))
    signatures, found = seen(worth, (feet, LANES), (yards, LANES), (feet, (0, 0, 0, 0)), (single, LANES))
    assert len(face(worth).signatures) == 4
    assert len(signatures) == 1
    assert {data: len(forms) for data, forms in found.items()} == {Feet: 1, Yards: 1}


@pytest.mark.parametrize(
    "strange", [Cloth(Feet(1.0), PRICE[::2]), Cloth(Feet(1.0), np.ones(2, np.int64))], ids=["strided", "integers"]
)
def test_another_array_is_another_signature(worth, strange):
    signatures, _ = seen(worth, (Cloth(Feet(1.0), PRICE), LANES), (strange, LANES))
    assert len(signatures) == 2


@pytest.mark.parametrize(
    ("usual", "strange"),
    [(Feet(1.0), Feet(1)), (Yards(1.0, BOLTS), Yards(1.0, BOLTS[::2]))],
    ids=["integer", "strided"],
)
def test_another_field_is_another_form_of_the_data(worth, usual, strange):
    """All data of a generic function count as one, so a kernel's signatures do not show it."""
    signatures, found = seen(worth, (Cloth(usual, PRICE), LANES), (Cloth(strange, PRICE), LANES))
    assert len(signatures) == 1
    assert len(found[type(usual)]) == 2
