"""The threads of the linear algebra behind NumPy.

A product of a matrix of a thousand rows with a vector takes half a millisecond. OpenBLAS divides it among threads that
wait for one another in a loop, which takes ten times as long when another process uses a core.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run linear algebra in the calling thread alone."""
    with controller().limit(limits=1, user_api="blas"):
        yield


@cache
def controller() -> ThreadpoolController:
    """Return the controller of the libraries that are loaded; NumPy's is."""
    return ThreadpoolController()
