"""Choose the lane width and the padding of label rows by the machine's registers; allocate arrays of such rows."""

from __future__ import annotations

import os

import numpy as np
from llvmlite import binding

CACHE_LINE = 64  # bytes
FEATURES = os.environ.get("NUMBA_CPU_FEATURES")  # if set, Numba generates code for these instead of the machine's
HAS_MANY_REGISTERS = (  # 32 of 8 doubles, elsewhere 16 of 4
    binding.get_host_cpu_features().get("avx512f", False) if FEATURES is None else "+avx512f" in FEATURES.split(",")
)
WIDEST = 56 if HAS_MANY_REGISTERS else 24  # two accumulators and an operand stay in registers
WIDEST_SINGLE = 56  # lanes of singles for which the same holds
FOUR_FIT = 448 if HAS_MANY_REGISTERS else 96  # bytes of lanes for which four accumulators stay in registers
SINGLE_LANE = np.float32(0.0)  # lanes of these are singles, lanes of anything else doubles


def choose_width(n_labels: int) -> tuple[int, int]:
    """Return (lanes per panel, padded row length): the least padding, then the fewest panels that fit into registers.

    Parts have 8 lanes, except if 4 save much of the padding: up to 4 labels and, as long as 12 lanes need not be
    divided (FOUR_FIT), for 9 to 12 of them.
    """
    if n_labels <= 4:
        return 4, 4
    if HAS_MANY_REGISTERS and 8 < n_labels <= 12:
        return 12, 12
    padded = -(-n_labels // 8) * 8
    return max(width for width in range(8, WIDEST + 1, 8) if padded % width == 0), padded


def single_width(padded: int) -> int:
    """Return the lanes per panel in single precision for rows of that length: the most that fit into registers."""
    return max(width for width in (4, 12, *range(8, WIDEST_SINGLE + 1, 8)) if padded % width == 0)


def panel_width(width: int, item: int) -> int:
    """Return how many of `width` lanes, of `item` bytes each, to take at a time with four accumulators."""
    return max(part for part in (width, 8, 16, 24) if width % part == 0 and (part * item <= FOUR_FIT or part == 8))


def aligned_zeros(n_rows: int, padded: int, dtype: type = np.float64) -> np.ndarray:
    """Return a [n_rows, padded] array of zeros that starts on a cache line."""
    size, item = n_rows * padded, np.dtype(dtype).itemsize
    raw: np.ndarray = np.zeros(size + CACHE_LINE // item, dtype)
    first = -raw.ctypes.data % CACHE_LINE // item
    return raw[first : first + size].reshape(n_rows, padded)
