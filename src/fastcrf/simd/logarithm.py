"""Compute log over an array in a loop that the compiler vectorizes."""

from __future__ import annotations

import numpy as np

from fastcrf.jit.kernel import strict_kernel
from fastcrf.simd.bits import bits_of_float, float_from_bits
from fastcrf.simd.exponential import LN2_HIGH, LN2_LOW

ROOT_OF_HALF = 0x3FE6A09E667F3BCD  # its bits


@strict_kernel
def take_logarithms(x):
    """Set x <- log(x) for normal positive numbers.

    log(v) = k ln 2 + log(m), v = 2^k m with m between the roots of 1/2 and 2, and log(m) = 2 artanh(s), where s = (m -
    1) / (m + 1), by its series in s^2 <= 0.0295 (error 1e-16 relative).

    Writes: x.
    """
    for i in range(len(x)):
        bits = bits_of_float(x[i])
        k = np.int32((bits - ROOT_OF_HALF) >> 52)
        m = float_from_bits(bits - (np.int64(k) << 52))
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        p = 2.0 / 19
        p = p * z + 2.0 / 17
        p = p * z + 2.0 / 15
        p = p * z + 2.0 / 13
        p = p * z + 2.0 / 11
        p = p * z + 2.0 / 9
        p = p * z + 2.0 / 7
        p = p * z + 2.0 / 5
        p = p * z + 2.0 / 3
        x[i] = k * LN2_HIGH + (k * LN2_LOW + (s * z * p + 2.0 * s))
