"""exp over a stretch of numbers, written so that the compiler turns the loop into vector code."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.lanes import bits_of_float, float_from_bits
from fastcrf.kernel import ordered_kernel

LOWEST = -700.0  # exp(-700) is 1e-304, still a normal number; callers never depend on anything smaller
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125  # Cody & Waite: ln 2 in two parts, so that x - k ln 2 keeps full precision
LN2_LOW = 1.42860682030941723212e-6


@ordered_kernel
def exponentiate(x):
    """x <- exp(x) for arguments up to 0 or a little above; below -700 gives exp(-700).

    exp(v) = 2^k exp(r), k = round(v / ln 2), |r| <= ln(2)/2, exp(r) by its Taylor polynomial of degree 12 (error 2e-16
    relative); 2^k is added to the exponent bits. As vector code it is several times as fast as one number at a time.

    Writes: x.
    """
    for i in range(len(x)):  # from 0: with an unknown first index, tests for negative ones would forbid vector code
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
