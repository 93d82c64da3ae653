"""Compute exp over an array in a loop that the compiler vectorizes.

exp(v) = 2^k exp(r), k = round(v / ln 2), |r| <= ln(2)/2, and exp(r) is a polynomial; 2^k is added to the exponent bits.
The vector code is several times as fast as a scalar loop.
"""

from __future__ import annotations

import numpy as np

from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import strict_kernel
from fastcrf.simd.bits import bits_of_float, bits_of_single, float_from_bits, single_from_bits

LOWEST = -700.0  # exp(-700) is 1e-304, still a normal number; no caller needs a smaller one
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125  # Cody & Waite: ln 2 in two parts, so that x - k ln 2 keeps full precision
LN2_LOW = 1.42860682030941723212e-6

# The same in single precision. A product of two numbers of at least exp(-50) is also a normal number.
LOWEST_SINGLE = np.float32(-50.0)
LOG2_E_SINGLE, HALF, ONE = np.float32(LOG2_E), np.float32(0.5), np.float32(1.0)
LN2_HIGH_SINGLE, LN2_LOW_SINGLE = np.float32(0.693359375), np.float32(-2.12194440e-4)
# exp(r) - 1 - r over r^2, interpolated at the zeros of Chebyshev's polynomial of degree 5: error at most 1e-8
A0, A1, A2, A3, A4 = np.array([0.5, 0.16666577, 0.0416665547, 0.00836317307, 0.00139261761], np.float32)


@generic
def exponentiate(x):  # type: ignore[no-untyped-def]
    """Set x <- exp(x) for arguments up to 0 or slightly above; arguments below LOWEST count as LOWEST. Writes: x."""


@exponentiate.register(np.float64)
@strict_kernel
def exponentiate_doubles(x):
    """Set x <- exp(x) by the Taylor polynomial of degree 12: relative error 2e-16. Writes: x."""
    for i in range(len(x)):  # from 0: an unknown first index needs tests for negative values, which prevent vector code
        v = max(x[i], LOWEST)
        k = np.floor(v * LOG2_E + 0.5)
        r = (v - k * LN2_HIGH) - k * LN2_LOW
        p = 1.0 / 479001600
        p = p * r + 1.0 / 39916800
        p = p * r + 1.0 / 3628800
        p = p * r + 1.0 / 362880
        p = p * r + 1.0 / 40320
        p = p * r + 1.0 / 5040
        p = p * r + 1.0 / 720
        p = p * r + 1.0 / 120
        p = p * r + 1.0 / 24
        p = p * r + 1.0 / 6
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        x[i] = float_from_bits(bits_of_float(p) + (np.int64(np.int32(k)) << 52))


@exponentiate.register(np.float32)
@strict_kernel
def exponentiate_singles(x):
    """Set x <- exp(x) by a polynomial of degree 6: relative error 1e-7, without bias. Writes: x."""
    for i in range(len(x)):
        v = max(x[i], LOWEST_SINGLE)
        k = np.floor(v * LOG2_E_SINGLE + HALF)
        r = (v - k * LN2_HIGH_SINGLE) - k * LN2_LOW_SINGLE
        p = A4
        p = p * r + A3
        p = p * r + A2
        p = p * r + A1
        p = p * r + A0
        p = (p * r) * r + (r + ONE)
        x[i] = single_from_bits(np.int32(bits_of_single(p) + (np.int32(k) << np.int32(23))))
