"""Whether there is room to decode: [K, K] and [P, K] arrays of a model with very many labels would fill the memory."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.histories import known_histories
from fastcrf.memory_room import SMALL, require_room
from fastcrf.types import Corpus, FeatureMap

MATRICES = 8  # [histories, K] that training a chain of higher order makes


def require_room_for(n_labels: int, n_positions: int, squares: int, rows: int) -> None:
    """Raise if so many matrices [K, K] and so many [P, K] would fill the memory."""
    n_bytes = 8 * n_labels * (squares * n_labels + rows * n_positions)
    if n_bytes > SMALL:
        what = f"Tagging {n_positions:,} tokens with {n_labels:,} labels"
        require_room(n_bytes, what, "tag fewer at a time, or use a model with fewer labels")


def require_room_for_grams(n_grams: int, n_labels: int, order: int) -> None:
    """Raise if the histories of so many label grams of a chain of higher order would fill the memory."""
    n_bytes = 8 * MATRICES * n_grams * n_labels
    if n_bytes > SMALL:
        what = f"A chain of order {order} whose {n_labels:,} labels form {n_grams:,} grams"
        require_room(n_bytes, what, "use a lower order, fewer labels or a higher min_freq")


def require_room_for_states(corpus: Corpus, features: FeatureMap, rows: int, columns: int) -> None:
    """Raise if so many [H, K] and, for each position of the longest sequence, [H] would fill the memory."""
    if features.order == 1:
        return
    longest, H, K = int(np.diff(corpus.starts).max(initial=1)), len(known_histories(features)), features.n_labels
    n_bytes = 8 * H * (rows * K + columns * longest)
    if n_bytes > SMALL:
        what = (
            f"Tagging sequences of up to {longest:,} tokens in a chain of order {features.order} with {H:,} histories"
        )
        require_room(n_bytes, what, "tag shorter sequences, or use a model of a lower order")
