"""Lanes are read and written by address, which Numba does not check; with NUMBA_BOUNDSCHECK=1 they are checked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KERNELS = """
import sys
import numpy as np
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.lanes import add_to, flat_rows, load, store, total, zeros

@noalloc_kernel
def run_load(array, row, column, lanes):
    return total(load(array, row, column, lanes))

@noalloc_kernel
def run_store(array, row, column, lanes):
    store(array, row, column, zeros(lanes))

@noalloc_kernel
def run_add_to(array, row, column, lanes):
    add_to(array, row, column, zeros(lanes))

@noalloc_kernel
def run_flat_rows(array, first, last, lanes):
    return len(flat_rows(array, first, last)) + len(lanes)

whole = np.zeros((8, 32))
part, lanes = whole[2:5].reshape(3, 32), (0,) * 8  # so that what is around exists: nothing is touched that is not ours
for name, row, column in {cases}:
    try:
        globals()["run_" + name](part, row, column, lanes)
        print("fine")
    except IndexError as error:
        print(error)
"""
OUTSIDE = [
    *(
        (name, row, column)
        for name in ("load", "store", "add_to")
        for row, column in [(3, 0), (-1, 0), (0, 25), (1, -1)]
    ),
    *(("flat_rows", first, last) for first, last in [(0, 4), (-1, 2), (2, 1)]),
]
WITHIN = [
    *((name, row, column) for name in ("load", "store", "add_to") for row, column in [(0, 0), (2, 24)]),
    *(("flat_rows", first, last) for first, last in [(0, 3), (0, 0), (3, 3)]),
]


def outcomes(cases, **environment):
    done = subprocess.run(
        [sys.executable, "-c", KERNELS.format(cases=cases)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_lanes_out_of_bounds_are_caught_where_bounds_are_checked():
    assert outcomes(OUTSIDE, NUMBA_BOUNDSCHECK="1") == ["lanes are out of bounds"] * len(OUTSIDE)
    assert outcomes(WITHIN, NUMBA_BOUNDSCHECK="1") == ["fine"] * len(WITHIN)


@pytest.mark.parametrize("cases", [OUTSIDE, WITHIN], ids=["outside", "within"])
def test_elsewhere_they_cost_nothing(cases):
    assert outcomes(cases, NUMBA_BOUNDSCHECK="0") == ["fine"] * len(cases)
