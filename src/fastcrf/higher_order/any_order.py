"""Edges and work space of a chain of any order. What kernels do with them follows from their types.

What chains of higher order need is imported when the first of them is met.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.features.histories import Tree, make_tree
from fastcrf.features.layout import Layout
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice, make_edges, make_lattice

HISTORIES = "fastcrf.higher_order.expectations"


def tree_of(layout: Layout) -> Tree | None:
    """The states of a chain of higher order; of order 1 they are the labels."""
    return None if layout.order == 1 else make_tree(layout.histories, layout.n_labels)


def edges_from(tree: Tree | None, scores: Floats, padded: int) -> AnyEdges:
    """Edges of weights [H, K]."""
    return make_edges(scores, padded) if tree is None else histories().make_history_edges(scores, tree, padded)


def no_edges(layout: Layout, tree: Tree | None) -> AnyEdges:
    """Edges whose weights are 0."""
    return edges_from(tree, np.zeros((layout.n_histories, layout.n_labels)), layout.padded)


def lattice_of(tree: Tree | None, n_positions: int, n_labels: int, padded: int) -> AnyLattice:
    """Work space for so many positions."""
    if tree is None:
        return make_lattice(n_positions, n_labels, padded)
    return histories().make_history_lattice(n_positions, tree, padded)


def histories() -> Any:
    """The file that says what the functions of kernels mean for histories."""
    return import_module(HISTORIES)
