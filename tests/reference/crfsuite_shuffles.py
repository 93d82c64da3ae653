"""The random orders of CRFsuite's l2sgd, drawn from the same rand() of the C library."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

AVAILABLE = sys.platform.startswith("linux")


def seed(number):
    """Begin the C library's random numbers anew."""
    ctypes.CDLL(None).srand(number)


def orders(number, n, count):
    """The first `count` orders of n sequences after `seed(number)`; each goes on from the one before."""
    library, order, found = ctypes.CDLL(None), list(range(n)), []
    library.srand(number)
    for _ in range(count):
        for i in range(n):
            j = library.rand() % n
            order[i], order[j] = order[j], order[i]
        found.append(np.array(order))
    return found
