"""Read and write the bits of floating-point numbers, for kernels that use exponents or compare without branches."""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from fastcrf.simd.lanes import DOUBLE, INT32, INT64, SINGLE, instruction


@instruction
def float_from_bits(typing_context, bits):
    """Return the double whose IEEE-754 bit pattern is the given int64."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], DOUBLE)

    return types.float64(types.int64), generate


@instruction
def bits_of_float(typing_context, number):
    """Return the IEEE-754 bit pattern of a double as int64."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], INT64)

    return types.int64(types.float64), generate


@instruction
def single_from_bits(typing_context, bits):
    """Return the single whose IEEE-754 bit pattern is the given int32."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], SINGLE)

    return types.float32(types.int32), generate


@instruction
def bits_of_single(typing_context, number):
    """Return the IEEE-754 bit pattern of a single as int32."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], INT32)

    return types.int32(types.float32), generate


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def float_from_bits(bits):
        return np.int64(bits).view(np.float64)

    def bits_of_float(number):
        return np.float64(number).view(np.int64)

    def single_from_bits(bits):
        return np.int32(bits).view(np.float32)

    def bits_of_single(number):
        return np.float32(number).view(np.int32)
