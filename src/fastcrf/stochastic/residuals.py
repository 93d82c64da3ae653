"""Residuals of the sequences of one update, which all see the same weights: they wait here until all are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.objective.blocks import Blocks
from fastcrf.simd.widths import aligned_zeros


class Residuals(NamedTuple):
    """Expected minus observed, of the sequences of one update."""

    nodes: np.ndarray  # [positions of an update, Kp]
    edges: np.ndarray  # [histories, Kp] summed over the update


def make_residuals(blocks: Blocks, batch: int) -> Residuals:
    """Room for any `batch` sequences, even the longest so many times. Pages that are never touched cost nothing."""
    longest, Kp = blocks.widest[2], blocks.layout.padded
    return Residuals(aligned_zeros(batch * longest, Kp), aligned_zeros(*blocks.layout.edge_shape))
