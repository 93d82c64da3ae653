"""The four formats of stored gradients, their sizes for a corpus, and the smallest (Schmidt et al. 2015, section 4).

With B blocks of P positions, K labels and rows of Kp numbers (K, padded for vector instructions), and H label contexts
(K, or in a chain of order 2 K + K K), the formats store

    mixed       P Kp + B H Kp             label residuals by position, bigram residuals summed over the block
    marginals   P Kp + (P - N) K Kp       label residuals by position, bigram residuals by transition
    sparse      the block's attributes + B H Kp
    naive       B (all attributes + H Kp)

numbers of 8 bytes, or 4 (`precision="single"`). The iterates of a solver are the same in all four;
docs/explanation/sag-family.md has figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.inference.expectations import Table
from fastcrf.objective.blocks import Blocks
from fastcrf.simd.widths import aligned_zeros
from fastcrf.stochastic.stored_gradients import ByAttribute, Marginals, Mixed, Unstored
from fastcrf.system.memory_budget import physical_memory

FORMS = ("mixed", "marginals", "sparse", "naive")
WORTHWHILE = 1e6  # bytes to save before "auto" leaves `mixed`, because each format adds compile time once
PRECISIONS = {"double": np.float64, "single": np.float32}
UNSTORED = "unstored"  # for steps that use the new gradient alone
STORED = ("nodes", "rows", "cells", "edges")  # stored between two samples; other fields are work arrays
GIGABYTE = 1e9

StoredGradients = Mixed | Marginals | ByAttribute | Unstored


def stored_shapes(blocks: Blocks) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the shapes of the arrays that each format stores, by their names."""
    support, layout = blocks.support, blocks.layout
    H, Kp = layout.n_contexts, layout.padded
    P, N, B = len(blocks.chains.labels), len(blocks.chains.starts) - 1, len(blocks.chains.bounds) - 1
    edges = B * H, Kp
    return {
        "mixed": {"nodes": (P, Kp), "edges": edges},
        "marginals": {"nodes": (P, Kp), "edges": ((P - N) * H, Kp)},
        "sparse": {"rows": (len(support.rows), Kp), "cells": (len(support.cells),), "edges": edges},
        "naive": {"rows": (B * layout.n_rows, Kp), "cells": (B * layout.n_cells,), "edges": edges},
    }


def bytes_by_form(blocks: Blocks, precision: str = "double") -> dict[str, int]:
    """Return the bytes that each format would need for these sequences."""
    item = np.dtype(PRECISIONS[precision]).itemsize
    shapes = stored_shapes(blocks)
    return {form: item * sum(math.prod(shape) for shape in shapes[form].values()) for form in FORMS}


def forms_of(blocks: Blocks) -> tuple[str, ...]:
    """Return the formats for the order of the chain: trigrams by transition would take K^3 numbers."""
    return FORMS if blocks.layout.order == 1 else tuple(form for form in FORMS if form != "marginals")


def choose_form(blocks: Blocks) -> str:
    """Return the smallest format, or `mixed` if that is hardly larger."""
    sizes = bytes_by_form(blocks)
    smallest = min(forms_of(blocks), key=sizes.__getitem__)
    return smallest if sizes["mixed"] - sizes[smallest] >= WORTHWHILE else "mixed"


def make_gradients(blocks: Blocks, form: str, precision: str) -> StoredGradients:
    """Return gradients of zero; `form` may be "auto": see `choose_form`."""
    n_rows, n_cells, longest = blocks.widest
    Kp = blocks.layout.padded
    if form == "auto":
        form = choose_form(blocks)
    if form not in (UNSTORED, *forms_of(blocks)):
        forms = ", ".join(forms_of(blocks))
        raise ValueError(f"storage={form!r} requires a chain of order 1; use {forms}, or order=1.")
    stored = {} if form == UNSTORED else make_stored(blocks, form, precision)
    change, edge_change = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells)), aligned_zeros(*blocks.layout.edge_shape)
    if form == UNSTORED:
        return Unstored(change, edge_change)
    if form in ("sparse", "naive"):
        return ByAttribute(**stored, change=change, edge_change=edge_change, dense=form == "naive")
    nodes, edges, node_change = stored["nodes"], stored["edges"], aligned_zeros(longest, Kp)
    if form == "marginals":
        return Marginals(nodes, edges, node_change, aligned_zeros(Kp, Kp), change, edge_change)
    return Mixed(nodes, edges, node_change, change, edge_change)


def make_stored(blocks: Blocks, form: str, precision: str) -> dict[str, np.ndarray]:
    """Allocate zeros for the stored gradients; raise `ValueError` if that exceeds the memory (systems overcommit)."""
    shapes, dtype = stored_shapes(blocks)[form], PRECISIONS[precision]
    try:
        if bytes_by_form(blocks, precision)[form] > physical_memory():
            raise MemoryError
        return {
            name: aligned_zeros(math.prod(shape[:-1]), shape[-1], dtype).reshape(shape)
            for name, shape in shapes.items()
        }
    except MemoryError:
        raise ValueError(too_large(blocks, form, precision)) from None


def stored_arrays(gradients: Any) -> dict[str, np.ndarray]:
    """Return the stored arrays of the gradients by name; the arrays themselves."""
    return {name: getattr(gradients, name) for name in STORED if name in gradients._fields}


def restore_gradients(gradients: Any, saved: Mapping[str, Any]) -> None:
    """Restore stored gradients from the arrays of a saved run. Writes: gradients."""
    for name, array in stored_arrays(gradients).items():
        kept = saved.get(name, np.empty(0))
        if (kept.shape, kept.dtype) != (array.shape, array.dtype):
            raise ValueError(
                "The run to resume stored its gradients in another format; use its options `storage` and "
                "`precision`, or start over."
            )
        array[:] = kept


def too_large(blocks: Blocks, form: str, precision: str) -> str:
    """Return the message for stored gradients that exceed the memory, with the remedy."""
    sizes, best = bytes_by_form(blocks, precision), choose_form(blocks)
    if form != best:
        remedy = f"use storage={best!r}, which needs {sizes[best] / GIGABYTE:.3g} GB"
    elif precision == "double":
        remedy = "use precision='single', which needs half of it"
    else:
        remedy = "use a solver that stores none, such as lbfgs"
    return (
        f"The stored gradients of these data would take {sizes[form] / GIGABYTE:.3g} GB with storage={form!r}, "
        f"more than the memory of this machine; {remedy}."
    )
