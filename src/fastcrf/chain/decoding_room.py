"""Whether there is room to decode: [K, K] and [P, K] arrays of a model with very many labels would fill the memory."""

from __future__ import annotations

from fastcrf.memory_room import SMALL, require_room


def require_room_for(n_labels: int, n_positions: int, squares: int, rows: int) -> None:
    """Raise if so many matrices [K, K] and so many [P, K] would fill the memory."""
    n_bytes = 8 * n_labels * (squares * n_labels + rows * n_positions)
    if n_bytes > SMALL:
        what = f"Tagging {n_positions:,} tokens with {n_labels:,} labels"
        require_room(n_bytes, what, "tag fewer at a time, or use a model with fewer labels")
