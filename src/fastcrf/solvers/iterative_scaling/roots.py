"""One step of iterative scaling for all weights: each moves separately, to the root of scaling_root.py."""

from __future__ import annotations

import math

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import kernel
from fastcrf.solvers.iterative_scaling.scaling_root import LARGEST_CHANGE, MOST_STEPS, PRECISION, scaling_root


@kernel
def scale_weights(
    weights: Floats, expected: Floats, observed: Floats, largest_sum: float, ridge: float, moved: Floats
) -> None:
    """Compute the weights after one exact step. Writes: moved."""
    for f in range(len(weights)):
        target = observed[f] - ridge * weights[f]
        moved[f] = weights[f] + scaling_root(expected[f], ridge / largest_sum, target) / largest_sum


@kernel
def scale_weights_lagging(
    weights: Floats, expected: Floats, observed: Floats, largest_sum: float, ridge: float, moved: Floats
) -> None:
    """Compute the weights after a step with the penalty of the previous weights, where its logarithm is defined.

    Yang et al. (2012), eq. 3.9 and 4.1:  d = (1/S) ln( O / (E + k w) ). Writes: moved.
    """
    for f in range(len(weights)):
        penalized = expected[f] + ridge * weights[f]
        if observed[f] > 0.0 and penalized > 0.0:
            moved[f] = weights[f] + math.log(observed[f] / penalized) / largest_sum
        else:
            target = observed[f] - ridge * weights[f]
            moved[f] = weights[f] + scaling_root(expected[f], ridge / largest_sum, target) / largest_sum


@kernel
def scale_by_sums(
    weights: Floats, expected: Floats, sums: Floats, observed: Floats, ridge: float, moved: Floats
) -> None:
    """Compute the weights after a step in which each group of sequences, a row of `expected`, has its own feature sum:
    roots of

        sum_g E_gf e^(T_g d) + k (w + d) = O

    Writes: moved.
    """
    for f in range(len(weights)):
        target = observed[f] - ridge * weights[f]
        moved[f] = weights[f] + grouped_root(expected[:, f], sums, ridge, target)


@kernel
def grouped_root(expected: Floats, sums: Floats, ridge: float, target: float) -> float:
    """Return the root d of sum_g expected[g] e^(sums[g] d) + ridge d = target.

    It has the sign of target - sum(expected), and lies between the roots for the smallest and for the largest sum
    alone, the first of which is further from 0. Newton's method starts from the one on the right, on the logarithms of
    both sides if exponentials might overflow.
    """
    total, least, largest = 0.0, math.inf, 0.0
    for g in range(len(sums)):
        if expected[g] > 0.0 and sums[g] > 0.0:
            total += expected[g]
            least = min(least, sums[g])
            largest = max(largest, sums[g])
    if total == 0.0:
        if ridge > 0.0:
            return target / ridge
        return LARGEST_CHANGE / sums[-1] if target > 0.0 else 0.0
    grows = target > total
    bound = least if grows else largest
    d = scaling_root(total, ridge / bound, target) / bound
    if ridge == 0.0 and not target > 0.0:
        return d
    for _ in range(MOST_STEPS):
        highest = largest * d if grows else 0.0
        grown, slope = 0.0, 0.0
        for g in range(len(sums)):
            if expected[g] > 0.0:
                part = expected[g] * math.exp(sums[g] * d - highest)
                grown += part
                slope += sums[g] * part
        if grows:
            left = target - ridge * d
            step = (math.log(grown / left) + highest) / (slope / grown + ridge / left)
        else:
            step = (grown + ridge * d - target) / (slope + ridge)
        d -= step
        if not largest * abs(step) > PRECISION * max(1.0, largest * abs(d)):
            break
    return d
