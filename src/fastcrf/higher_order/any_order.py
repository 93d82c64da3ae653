"""Edges and work arrays of a chain of any order. Their types select the implementations of generic functions.

The code for chains of higher order is imported when the first such chain is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Floats
from fastcrf.feature_space.label_contexts import Tree, make_tree
from fastcrf.feature_space.layout import Layout
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice, make_edges, make_lattice

HISTORIES = "fastcrf.higher_order.expectations"
LIVE_LABELS, LIVE_CONTEXTS = "fastcrf.inference.live_labels", "fastcrf.higher_order.live_contexts"


def tree_of(layout: Layout) -> Tree | None:
    """Return the states of a chain of higher order; None for order 1, where they are the labels."""
    return None if layout.order == 1 else make_tree(layout.contexts, layout.n_labels)


def edges_from(tree: Tree | None, scores: Floats, padded: int) -> AnyEdges:
    """Build the edges of weights [H, K]."""
    return make_edges(scores, padded) if tree is None else contexts().make_context_edges(scores, tree, padded)


def no_edges(layout: Layout, tree: Tree | None) -> AnyEdges:
    """Build edges whose weights are 0."""
    return edges_from(tree, np.zeros((layout.n_contexts, layout.n_labels)), layout.padded)


def lattice_of(tree: Tree | None, n_positions: int, n_labels: int, padded: int) -> AnyLattice:
    """Allocate a lattice for `n_positions` positions."""
    if tree is None:
        return make_lattice(n_positions, n_labels, padded)
    return contexts().make_context_lattice(n_positions, tree, padded)


def allowed_edges_from(tree: Tree | None, scores: Floats, transitions: NDArray[np.bool_], padded: int) -> AnyEdges:
    """Build the same where only some transitions [K, K] are allowed."""
    if tree is None:
        return import_module(LIVE_LABELS).allowed_edges(scores, transitions, padded)
    return import_module(LIVE_CONTEXTS).allowed_context_edges(scores, transitions, tree, padded)


def live_lattice_of(tree: Tree | None, n_positions: int, n_labels: int, padded: int) -> AnyLattice:
    """Allocate a lattice for scores of which some are masked."""
    lattice = lattice_of(tree, n_positions, n_labels, padded)
    if tree is None:
        return import_module(LIVE_LABELS).live_lattice(lattice)
    return import_module(LIVE_CONTEXTS).live_context_lattice(lattice)


def contexts() -> Any:
    """Import the module that registers generic functions for label contexts."""
    return import_module(HISTORIES)
