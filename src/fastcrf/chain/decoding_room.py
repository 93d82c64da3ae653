"""Whether there is room to decode: [K, K] and [P, K] arrays of a model with very many labels would fill the memory."""

from __future__ import annotations

import numpy as np

from fastcrf.memory_room import SMALL, require_room
from fastcrf.types import Corpus

MATRICES = 8  # [histories, K] that training a chain of order 2 makes


def require_room_for(n_labels: int, n_positions: int, squares: int, rows: int) -> None:
    """Raise if so many matrices [K, K] and so many [P, K] would fill the memory."""
    n_bytes = 8 * n_labels * (squares * n_labels + rows * n_positions)
    if n_bytes > SMALL:
        what = f"Tagging {n_positions:,} tokens with {n_labels:,} labels"
        require_room(n_bytes, what, "tag fewer at a time, or use a model with fewer labels")


def require_room_for_histories(n_labels: int, order: int) -> None:
    """Raise if the triples of a chain of order 2 would fill the memory."""
    n_bytes = 8 * MATRICES * n_labels**3 if order == 2 else 0
    if n_bytes > SMALL:
        require_room(n_bytes, f"A chain of order 2 with {n_labels:,} labels", "use order=1, or fewer labels")


def require_room_for_pairs(corpus: Corpus, n_labels: int, cubes: int, squares: int) -> None:
    """Raise if so many [K, K, K] and, for each position of the longest sequence, [K, K] would fill the memory."""
    longest = int(np.diff(corpus.starts).max(initial=1))
    n_bytes = 8 * n_labels**2 * (cubes * n_labels + squares * longest)
    if n_bytes > SMALL:
        what = f"Tagging sequences of up to {longest:,} tokens with {n_labels:,} labels in a chain of order 2"
        require_room(n_bytes, what, "tag shorter sequences, or use a model with fewer labels")
