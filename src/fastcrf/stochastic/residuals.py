"""Residuals of the sequences of one update, which all use the same weights, stored until all are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.objective.blocks import Blocks
from fastcrf.simd.widths import aligned_zeros


class Residuals(NamedTuple):
    """Expected minus observed, of the sequences of one update."""

    nodes: np.ndarray  # [positions of an update, Kp]
    edges: np.ndarray  # [contexts, Kp] summed over the update


def make_residuals(blocks: Blocks, batch: int) -> Residuals:
    """Allocate arrays for any `batch` sequences, even `batch` times the longest. Unused pages cost nothing."""
    longest, Kp = blocks.widest[2], blocks.layout.padded
    return Residuals(aligned_zeros(batch * longest, Kp), aligned_zeros(*blocks.layout.edge_shape))
