"""Solve for the step of iterative scaling for one weight.

With E_f expected and O_f observed counts, S the largest sum of features and k = 2 c2, the step d of the weight w is
the root of

    E e^(S d) + k (w + d) = O                                        Chen & Rosenfeld (2000), section 4.1

or with u = S d,  r = k / S  and  b = O - k w,

    E e^u + r u = b

whose root is u = b/r - omega(z), z = ln(E/r) + b/r, with Wright's omega: omega + ln omega = z. For a weak penalty both
terms are huge and cancel, and without a penalty they are infinite. The root is therefore found by Newton's method in u
itself, from a point to the right of it, from which it descends monotonically on convex functions:

    z <= 1:  E e^u + r u - b           from b/r; there its first term is at most e r
    z > 1:   ln E + u - ln(b - r u)    from ln(r z / E); there its derivative is between 1 and 2

and r z = r ln(E/r) + b is b itself when there is no penalty, where the root is ln(b/E).
"""

from __future__ import annotations

import math

from fastcrf.jit.kernel import kernel

# Without a penalty, a feature that never occurs would have the weight minus infinity. No step changes the odds of a
# label sequence by more than this.
LARGEST_CHANGE = math.log(1e8)
PRECISION = 1e-15  # relative error of an exponent u, or absolute if u is below 1
MOST_STEPS = 100  # of Newton's method; five are typical


@kernel
def scaling_root(expected: float, ridge: float, target: float) -> float:
    """Return the root u of expected e^u + ridge u = target."""
    if ridge == 0.0:
        if expected > 0.0 and target > 0.0:
            return min(max(math.log(target / expected), -LARGEST_CHANGE), LARGEST_CHANGE)
        return -LARGEST_CHANGE if expected > 0.0 else LARGEST_CHANGE if target > 0.0 else 0.0
    if expected == 0.0:
        return target / ridge
    scaled = ridge * math.log(expected / ridge) + target  # r z
    weak = scaled > ridge  # z > 1
    u = math.log(scaled / expected) if weak else target / ridge
    for _ in range(MOST_STEPS):
        if weak:
            left = target - ridge * u
            step = (math.log(expected / left) + u) / (1.0 + ridge / left)
        else:
            grown = expected * math.exp(u)
            step = (grown + ridge * u - target) / (grown + ridge)
        u -= step
        if not abs(step) > PRECISION * max(1.0, abs(u)):
            break
    return u
