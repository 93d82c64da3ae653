"""Quotients and square roots of lanes, for kernels whose step sizes differ from weight to weight.

They are few: in a file of their own, they leave the machine code of all others as it is.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from fastcrf.chain.lanes import FLAGS, instruction, pack, splat, unpack


@instruction
def divide(typing_context, x, y):
    """x / y, lane by lane."""

    def generate(context, builder, signature, args):
        pairs = zip(unpack(builder, args[0]), unpack(builder, args[1]), strict=True)
        return pack(builder, [builder.fdiv(a, b, flags=FLAGS) for a, b in pairs])

    return x(x, y), generate


@instruction
def divide_unless_zero(typing_context, x, y, otherwise):
    """x / y, lane by lane; `otherwise` where y is 0."""

    def generate(context, builder, signature, args):
        parts = []
        for a, b in zip(unpack(builder, args[0]), unpack(builder, args[1]), strict=True):
            is_zero = builder.fcmp_ordered("==", b, ir.Constant(b.type, [0.0] * b.type.count))
            quotient = builder.fdiv(a, b, flags=FLAGS)
            parts.append(builder.select(is_zero, splat(builder, args[2], b.type), quotient))
        return pack(builder, parts)

    return x(x, y, types.float64), generate


@instruction
def root(typing_context, x):
    """The square root, lane by lane."""

    def generate(context, builder, signature, args):
        parts = unpack(builder, args[0])
        part = parts[0].type
        name = f"llvm.sqrt.v{part.count}f64"
        square_root = get_or_insert_function(builder.module, ir.FunctionType(part, [part]), name)
        return pack(builder, [builder.call(square_root, [part]) for part in parts])

    return x(x), generate


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    divide, root = np.divide, np.sqrt

    def divide_unless_zero(x, y, otherwise):
        return np.divide(x, y, out=np.full(len(x), otherwise), where=y != 0.0)
