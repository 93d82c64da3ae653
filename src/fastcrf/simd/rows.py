"""Clear, copy and add rows of label scores, padded to whole vectors."""

from __future__ import annotations

from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.simd.lanes import add, load, store, zeros


@noalloc_kernel
def clear_rows(target, n_rows, lanes):
    """Set target[:n_rows] = 0. Writes: target."""
    for r in range(n_rows):
        for b in range(0, target.shape[1], len(lanes)):
            store(target, r, b, zeros(lanes))


@noalloc_kernel
def copy_rows(source, target, n_rows, lanes):
    """Set target[:n_rows] = source[:n_rows]. Writes: target."""
    for r in range(n_rows):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, r, b, load(source, r, b, lanes))


@noalloc_kernel
def add_rows(source, target, n_rows, lanes):
    """Add target[:n_rows] += source[:n_rows]. Writes: target."""
    for r in range(n_rows):
        for b in range(0, source.shape[1], len(lanes)):
            store(target, r, b, add(load(target, r, b, lanes), load(source, r, b, lanes)))
