"""The four forms to keep gradients, their sizes for a corpus, and the smallest of them: schmidt2015, section 4.

With B blocks of P positions, K labels and rows of Kp numbers (K, padded for vector instructions), and H histories (K,
or in a chain of order 2 K + K K), the forms keep

    mixed       P Kp + B H Kp             label residuals by position, bigram residuals summed over the block
    marginals   P Kp + (P - N) K Kp       label residuals by position, bigram residuals by transition
    sparse      the block's attributes + B H Kp
    naive       B (all attributes + H Kp)

numbers of 8 bytes, or 4 (`precision="single"`). The iterates of a solver are the same in all four; docs/sag-family.md
has figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.inference.expectations import Table
from fastcrf.objective.blocks import Blocks
from fastcrf.simd.widths import aligned_zeros
from fastcrf.stochastic.stored_gradients import ByAttribute, Marginals, Mixed
from fastcrf.system.memory_budget import physical_memory

FORMS = ("mixed", "marginals", "sparse", "naive")
WORTHWHILE = 1e6  # bytes to be saved before "auto" leaves `mixed`, because each form takes the compiler its time once
PRECISIONS = {"double": np.float64, "single": np.float32}
STORED = ("nodes", "rows", "cells", "edges")  # what is kept between two draws; other fields are room to work
GIGABYTE = 1e9

StoredGradients = Mixed | Marginals | ByAttribute


def stored_shapes(blocks: Blocks) -> dict[str, dict[str, tuple[int, ...]]]:
    """The shapes of the arrays that each form stores, by their names."""
    support, layout = blocks.support, blocks.layout
    H, Kp = layout.n_histories, layout.padded
    P, N, B = len(blocks.chains.labels), len(blocks.chains.starts) - 1, len(blocks.chains.bounds) - 1
    edges = B * H, Kp
    return {
        "mixed": {"nodes": (P, Kp), "edges": edges},
        "marginals": {"nodes": (P, Kp), "edges": ((P - N) * H, Kp)},
        "sparse": {"rows": (len(support.rows), Kp), "cells": (len(support.cells),), "edges": edges},
        "naive": {"rows": (B * layout.n_rows, Kp), "cells": (B * layout.n_cells,), "edges": edges},
    }


def bytes_by_form(blocks: Blocks, precision: str = "double") -> dict[str, int]:
    """What each form would need for these sequences."""
    item = np.dtype(PRECISIONS[precision]).itemsize
    shapes = stored_shapes(blocks)
    return {form: item * sum(math.prod(shape) for shape in shapes[form].values()) for form in FORMS}


def forms_of(blocks: Blocks) -> tuple[str, ...]:
    """Those that there are for the order of the chain: triples are not kept by transition, which takes K^3 numbers."""
    return FORMS if blocks.layout.order == 1 else tuple(form for form in FORMS if form != "marginals")


def choose_form(blocks: Blocks) -> str:
    """The smallest, or `mixed` if that is hardly larger."""
    sizes = bytes_by_form(blocks)
    smallest = min(forms_of(blocks), key=sizes.__getitem__)
    return smallest if sizes["mixed"] - sizes[smallest] >= WORTHWHILE else "mixed"


def make_gradients(blocks: Blocks, form: str, precision: str) -> StoredGradients:
    """Gradients of zero; `form` may be "auto": see `choose_form`."""
    if form == "auto":
        form = choose_form(blocks)
    if form not in forms_of(blocks):
        raise ValueError(f"storage={form!r} is for chains of order 1; use {', '.join(forms_of(blocks))}, or order=1.")
    stored = make_stored(blocks, form, precision)
    n_rows, n_cells, longest = blocks.widest
    Kp = blocks.layout.padded
    change, edge_change = Table(aligned_zeros(n_rows, Kp), np.zeros(n_cells)), aligned_zeros(*blocks.layout.edge_shape)
    if form in ("sparse", "naive"):
        return ByAttribute(**stored, change=change, edge_change=edge_change, dense=form == "naive")
    nodes, edges, node_change = stored["nodes"], stored["edges"], aligned_zeros(longest, Kp)
    if form == "marginals":
        return Marginals(nodes, edges, node_change, aligned_zeros(Kp, Kp), change, edge_change)
    return Mixed(nodes, edges, node_change, change, edge_change)


def make_stored(blocks: Blocks, form: str, precision: str) -> dict[str, np.ndarray]:
    """Zeros for what is kept, or a sentence if that is more than the machine has (systems would promise it first)."""
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
    """What is kept of the gradients, by name; the arrays themselves."""
    return {name: getattr(gradients, name) for name in STORED if name in gradients._fields}


def restore_gradients(gradients: Any, saved: Mapping[str, Any]) -> None:
    """Take what was kept from the arrays of a saved run. Writes: gradients."""
    for name, array in stored_arrays(gradients).items():
        kept = saved.get(name, np.empty(0))
        if (kept.shape, kept.dtype) != (array.shape, array.dtype):
            raise ValueError(
                "The run to be continued kept its gradients in another form; continue it with its own options "
                "`storage` and `precision`, or start afresh."
            )
        array[:] = kept


def too_large(blocks: Blocks, form: str, precision: str) -> str:
    """The sentence that says so, with the remedy."""
    sizes, best = bytes_by_form(blocks, precision), choose_form(blocks)
    if form != best:
        remedy = f"storage={best!r} needs {sizes[best] / GIGABYTE:.3g} GB"
    elif precision == "double":
        remedy = "precision='single' needs half of it"
    else:
        remedy = "use a solver that stores none, such as lbfgs"
    return (
        f"The stored gradients of these data would take {sizes[form] / GIGABYTE:.3g} GB with storage={form!r}, "
        f"more than this machine has; {remedy}."
    )
