"""What kernels have been compiled for, and whether that is more than it should be: see conftest.py.

A kernel may have a signature for each lane width, for each type of data that generic functions have an implementation
for, and for both precisions of stored gradients and of inference. So these are left out of its signatures. A type of
such data must itself look the same wherever it occurs, and counts like a kernel: its fields are its signatures.
"""

from __future__ import annotations

from numba import types

from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.simd.lanes import Lanes

LANE_DTYPES = (types.int64, types.float32)  # of doubles and of singles


def has_implementation(argument):
    """Whether generic functions have an implementation for the type of an argument."""
    return any(
        getattr(argument, "instance_class", None) in implementations for implementations in IMPLEMENTATIONS.values()
    )


def kind(argument):
    """The type of an argument; all lane widths count as one, all types of a generic function, and both precisions."""
    if has_implementation(argument):
        return "data of a generic function"
    if hasattr(argument, "instance_class"):  # a NamedTuple may hold such data: the work space of either order of chain
        return f"{argument.instance_class.__name__}({kinds(argument.types)})"
    if isinstance(argument, Lanes) or (isinstance(argument, types.UniTuple) and argument.dtype in LANE_DTYPES):
        return "lanes"
    return str(argument).replace("float32", "float64")


def kinds(arguments):
    return ", ".join(map(kind, arguments))


def forms(arguments):
    """(class, its fields) for all data of generic functions among the arguments and within them."""
    for argument in arguments:
        if has_implementation(argument):
            yield argument.instance_class, kinds(argument.types)
        if hasattr(argument, "instance_class"):
            yield from forms(argument.types)
