"""The blocks of a corpus in another order."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, Longs
from fastcrf.system.mapped_arrays import empty_beside

AT_ONCE = 1 << 14  # sequences that are moved together


def partition(corpus: Corpus, n_blocks: int, seed: int) -> tuple[Corpus, Longs]:
    """Return (the sequences in an order that `seed` alone decides, first sequence of each block and their number).

    Blocks differ by at most one sequence: a small one would have a large Lipschitz constant.
    """
    order, bounds = order_of_blocks(corpus.n_sequences, n_blocks, seed)
    return reorder(corpus, order), bounds


def order_of_blocks(n: int, n_blocks: int, seed: int) -> tuple[np.ndarray, Longs]:
    """Return (the order of n sequences, first sequence of each block and their number), by `seed` alone."""
    return np.random.default_rng([seed, 0, 2]).permutation(n), np.arange(n_blocks + 1) * n // n_blocks


def reorder(corpus: Corpus, order: np.ndarray) -> Corpus:
    """Return sequences of a corpus in any order and number; those of a memory-mapped corpus are memory-mapped."""
    home, occurrences = corpus.attributes, corpus.offsets[corpus.starts]  # first of each sequence
    starts = np.concatenate(([0], np.cumsum(np.diff(corpus.starts)[order])))
    n_positions, n_occurrences = int(starts[-1]), int(np.diff(occurrences)[order].sum())
    moved = Corpus(
        starts=starts,
        offsets=empty_beside(home, n_positions + 1, np.int64),
        attributes=empty_beside(home, n_occurrences, np.int32),
        values=empty_beside(home, n_occurrences if len(corpus.values) else 0, np.float64),
        labels=empty_beside(home, n_positions, np.int32),
        weights=corpus.weights[order] if len(corpus.weights) else corpus.weights,
    )
    moved.offsets[0] = p = o = 0
    for first in range(0, len(order), AT_ONCE):
        _, positions = rearrange(corpus.starts, order[first : first + AT_ONCE])
        offsets, occurrences = rearrange(corpus.offsets, positions)
        held, place = slice(p, p + len(positions)), slice(o, o + len(occurrences))
        moved.offsets[p + 1 : held.stop + 1] = o + offsets[1:]
        moved.labels[held] = corpus.labels[positions]
        moved.attributes[place] = corpus.attributes[occurrences]
        if len(corpus.values):
            moved.values[place] = corpus.values[occurrences]
        p, o = held.stop, place.stop
    return moved


def rearrange(bounds: Longs, order: np.ndarray) -> tuple[Longs, Longs]:
    """Put slices bounds[i]:bounds[i + 1] in another order: (their new bounds, their content)."""
    sizes = bounds[order + 1] - bounds[order]
    moved = np.concatenate(([0], np.cumsum(sizes)))
    return moved, np.arange(moved[-1]) + np.repeat(bounds[order] - moved[:-1], sizes)
