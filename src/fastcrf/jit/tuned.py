"""Compile kernels in the tuned mode, which uses Numba's internals.

Only dispatcher, choice, lazy_kernel, cache and cache_files import internals, only this module imports those five, and
only mode.py imports this module. plain.py defines the same functions.
"""

from fastcrf.jit.choice import register_choice
from fastcrf.jit.dispatcher import make_kernel
from fastcrf.jit.lazy_kernel import make_lazy_kernel

__all__ = ["make_kernel", "make_lazy_kernel", "register_choice"]
