"""The tuned mode: kernels that are compiled and kept with the help of Numba's internals, which may change any day.

The modules that import those are dispatcher, choice, lazy_kernel, cache and cache_files. Nothing else imports
these, and mode.py imports this one; what it offers, plain.py offers, too.
"""

from fastcrf.jit.choice import register_choice
from fastcrf.jit.dispatcher import make_kernel
from fastcrf.jit.lazy_kernel import make_lazy_kernel

__all__ = ["make_kernel", "make_lazy_kernel", "register_choice"]
