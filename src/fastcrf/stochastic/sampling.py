"""Sample the next sequence. Kernels generate no random numbers: each epoch receives uniforms made from (seed, epoch).

A `SumTree` holds non-negative numbers as the leaves of a binary tree whose inner nodes are sums (or maxima). An inner
node is always computed from its two children, never by adding a difference. The tree is therefore a function of its
leaves alone: rebuilt from them, it continues bit for bit.
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.jit.kernel import noalloc_kernel


def epoch_uniforms(seed: int, epoch: int, n: int) -> Floats:
    """Return n uniforms in [0, 1) that depend only on the seed and the number of the epoch."""
    return np.random.default_rng([seed, epoch]).random(n)


def epoch_permutation(seed: int, epoch: int, n: int) -> np.ndarray:
    """Return a random order of 0..n-1 that depends only on the seed and the number of the epoch."""
    return np.random.default_rng([seed, epoch]).permutation(n)


def first_order(seed: int, n: int) -> np.ndarray:
    """Return a random order of 0..n-1 that depends on the seed alone and is independent of the epochs' randomness."""
    return np.random.default_rng([seed, 0, 1]).permutation(n)


def leaves_of(n: int) -> int:
    """Return the number of leaves of a tree over n numbers: the next power of two."""
    return 1 << max(n - 1, 0).bit_length()


def build_trees(numbers: Floats, sums: Floats, maxima: Floats) -> None:
    """Build trees over `numbers`, both of length 2 * leaves; node 1 is the root, leaf i is node leaves + i. Writes:
    both.
    """
    build_sums(numbers, sums)
    build(numbers, maxima, np.maximum)


def build_sums(numbers: Floats, sums: Floats) -> None:
    """Build the tree of sums alone. Writes: sums."""
    build(numbers, sums, np.add)


def build(numbers: Floats, tree: Floats, of_two: np.ufunc) -> None:
    """Build level by level, in NumPy: it runs once, and a kernel adds 0.3 s to the first fit."""
    leaves = len(tree) // 2
    tree[:] = 0.0
    tree[leaves : leaves + len(numbers)] = numbers
    while leaves > 1:
        leaves //= 2
        children = tree[2 * leaves : 4 * leaves]
        of_two(children[::2], children[1::2], out=tree[leaves : 2 * leaves])


@noalloc_kernel
def set_leaf(i, number, sums, maxima):
    """Set number i; O(log n). Writes: sums, maxima."""
    set_sum(i, number, sums)
    node = len(maxima) // 2 + i
    maxima[node] = number
    node >>= 1
    while node > 0:
        maxima[node] = max(maxima[2 * node], maxima[2 * node + 1])
        node >>= 1


@noalloc_kernel
def set_sum(i, number, sums):
    """Set number i in the tree of sums alone. Writes: sums."""
    node = len(sums) // 2 + i
    sums[node] = number
    node >>= 1
    while node > 0:
        sums[node] = sums[2 * node] + sums[2 * node + 1]
        node >>= 1


@noalloc_kernel
def find_leaf(target, sums):
    """Return the leaf i with sum of leaves before i <= target < sum up to and including i: target/total uniform gives
    P(i).
    """
    leaves = len(sums) // 2
    node = 1
    while node < leaves:
        node *= 2
        if target >= sums[node] and sums[node + 1] > 0.0:
            target -= sums[node]
            node += 1
    return node - leaves


@noalloc_kernel
def sample_uniform(u, n):
    """Sample from 0..n-1 with equal probability."""
    return min(np.int64(u * n), n - 1)


@noalloc_kernel
def sample_mixture(u, share, n, sums):
    """Sample uniformly from 0..n-1 with probability `share`, else in proportion to the tree's leaves (if there are
    any).
    """
    if u < share:
        return sample_uniform(u / share, n)
    rest = (u - share) / (1.0 - share)
    return find_leaf(rest * sums[1], sums) if sums[1] > 0.0 else sample_uniform(rest, n)


@noalloc_kernel
def mixture_probability(i, share, n, sums):
    """Return the probability with which `sample_mixture` gives i."""
    if not sums[1] > 0.0:
        return 1.0 / n
    leaf = sums[len(sums) // 2 + i] if len(sums) // 2 >= n else 0.0  # a single shared number is not the weight of i
    return share / n + (1.0 - share) * leaf / sums[1]


@noalloc_kernel
def sample_unseen_first(u, order, n_seen, share, sums):
    """Sample, with probability (unseen / all), the next unseen sequence of `order`, else one of the seen ones.

    A seen one is sampled uniformly with probability `share`, else in proportion to the leaves. `order` is a random
    order of all sequences, of which the first `n_seen` have been sampled (Schmidt et al. 2013, section 5.5).
    """
    unseen = (len(order) - n_seen) / len(order)
    if u < unseen:
        return order[n_seen]
    rest = (u - unseen) / (1.0 - unseen)
    if rest < share:
        return order[sample_uniform(rest / share, n_seen)]
    return find_leaf((rest - share) / (1.0 - share) * sums[1], sums)


@noalloc_kernel
def unseen_first_probability(i, order, n_seen, seen, share, sums):
    """Return the probability with which `sample_unseen_first` gives i, which was `seen` or not, over all orders."""
    if not seen:
        return 1.0 / len(order)
    return (share + (1.0 - share) * n_seen * sums[len(sums) // 2 + i] / sums[1]) / len(order)
