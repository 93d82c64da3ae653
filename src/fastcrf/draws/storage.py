"""The four ways to keep gradients, their sizes for a corpus, and the smallest of them: schmidt2015, section 4.

With B blocks of P positions, K labels and rows of Kp numbers (K, padded for vector instructions), the modes keep

    mixed       P Kp + B K Kp             label residuals by position, bigram residuals summed over the block
    marginals   P Kp + (P - N) K Kp       label residuals by position, bigram residuals by transition
    sparse      the block's attributes + B K Kp
    naive       B (all attributes + K Kp)

numbers of 8 bytes, or 4 (`precision="single"`). The iterates of a solver are the same in all four. On CoNLL-2000 they
take 78, 897, 410 and 51,133 MB, and an epoch of SAG-NUS* 0.33 (mixed), 0.36 (sparse) or 0.32 s (mixed, single; CPU time
on a busy machine); there and on the OCR letters single precision comes as close in as many epochs, down to a certified
relative gap of 1e-12 (c2 = 0.5).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.blocks import Sequences
from fastcrf.chain.expectations import Table
from fastcrf.chain.lanes import aligned_zeros
from fastcrf.draws.stored_gradients import ByAttribute, Marginals, Mixed

MODES = ("mixed", "marginals", "sparse", "naive")
WORTHWHILE = 1e6  # bytes to be saved before "auto" leaves `mixed`, because each mode takes the compiler its time once
PRECISIONS = {"double": np.float64, "single": np.float32}
STORED = ("nodes", "rows", "cells", "edges")  # what is kept between two draws; other fields are room to work
GIGABYTE = 1e9

GradientMemory = Mixed | Marginals | ByAttribute


def stored_shapes(sequences: Sequences) -> dict[str, dict[str, tuple[int, ...]]]:
    """The shapes of the arrays that each mode stores, by their names."""
    support, layout = sequences.support, sequences.layout
    K, Kp = layout.n_labels, layout.padded
    P, N, B = len(sequences.chains.labels), len(sequences.chains.starts) - 1, len(sequences.chains.blocks) - 1
    edges = B * K, Kp
    return {
        "mixed": {"nodes": (P, Kp), "edges": edges},
        "marginals": {"nodes": (P, Kp), "edges": ((P - N) * K, Kp)},
        "sparse": {"rows": (len(support.rows), Kp), "cells": (len(support.cells),), "edges": edges},
        "naive": {"rows": (B * layout.n_rows, Kp), "cells": (B * layout.n_cells,), "edges": edges},
    }


def bytes_by_mode(sequences: Sequences, precision: str = "double") -> dict[str, int]:
    """What each mode would need for these sequences."""
    item = np.dtype(PRECISIONS[precision]).itemsize
    shapes = stored_shapes(sequences)
    return {mode: item * sum(math.prod(shape) for shape in shapes[mode].values()) for mode in MODES}


def choose_mode(sequences: Sequences) -> str:
    """The smallest, or `mixed` if that is hardly larger."""
    sizes = bytes_by_mode(sequences)
    smallest = min(MODES, key=sizes.__getitem__)
    return smallest if sizes["mixed"] - sizes[smallest] >= WORTHWHILE else "mixed"


def make_memory(sequences: Sequences, mode: str, precision: str) -> GradientMemory:
    """Gradients of zero; `mode` may be "auto": see `choose_mode`."""
    if mode == "auto":
        mode = choose_mode(sequences)
    stored = make_stored(sequences, mode, precision)
    n_rows, n_cells, longest = sequences.widest
    Kp = sequences.layout.padded
    change, edge_change = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells)), aligned_zeros(Kp, Kp)
    if mode in ("sparse", "naive"):
        return ByAttribute(**stored, change=change, edge_change=edge_change, dense=mode == "naive")
    nodes, edges, node_change = stored["nodes"], stored["edges"], aligned_zeros(longest, Kp)
    if mode == "marginals":
        return Marginals(nodes, edges, node_change, aligned_zeros(Kp, Kp), change, edge_change)
    return Mixed(nodes, edges, node_change, change, edge_change)


def make_stored(sequences: Sequences, mode: str, precision: str) -> dict[str, np.ndarray]:
    """Zeros for what is kept, or a sentence if that is more than the machine has (systems would promise it first)."""
    shapes, dtype = stored_shapes(sequences)[mode], PRECISIONS[precision]
    try:
        if bytes_by_mode(sequences, precision)[mode] > physical_memory():
            raise MemoryError
        return {
            name: aligned_zeros(math.prod(shape[:-1]), shape[-1], dtype).reshape(shape)
            for name, shape in shapes.items()
        }
    except MemoryError:
        raise ValueError(too_large(sequences, mode, precision)) from None


def stored_arrays(memory: Any) -> dict[str, np.ndarray]:
    """What is kept of the gradients, by name; the arrays themselves."""
    return {name: getattr(memory, name) for name in STORED if name in memory._fields}


def restore_memory(memory: Any, saved: Mapping[str, Any]) -> None:
    """Take what was kept from the arrays of a saved run. Writes: memory."""
    for name, array in stored_arrays(memory).items():
        kept = saved.get(name, np.empty(0))
        if (kept.shape, kept.dtype) != (array.shape, array.dtype):
            raise ValueError(
                "The run that is to go on kept its gradients in another form; go on with its own options `memory` "
                "and `precision`, or start anew."
            )
        array[:] = kept


def physical_memory() -> float:
    """Bytes of this machine; infinite where the system does not tell."""
    known = hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if known else math.inf


def too_large(sequences: Sequences, mode: str, precision: str) -> str:
    """The sentence that says so, with the remedy."""
    sizes, best = bytes_by_mode(sequences, precision), choose_mode(sequences)
    if mode != best:
        remedy = f"memory={best!r} needs {sizes[best] / GIGABYTE:.3g} GB"
    elif precision == "double":
        remedy = "precision='single' needs half of it"
    else:
        remedy = "use a solver that stores none, such as lbfgs"
    return (
        f"The stored gradients of these data would take {sizes[mode] / GIGABYTE:.3g} GB with memory={mode!r}, "
        f"more than this machine has; {remedy}."
    )
