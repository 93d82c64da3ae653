"""Edges and work space of a chain of either order. What kernels do with them follows from their types.

What pairs of labels need is imported when a chain of order 2 is met for the first time.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastcrf.chain.forward_backward import make_edges, make_lattice
from fastcrf.chain.transitions import transition_matrix
from fastcrf.types import FeatureMap, Floats

AnyEdges = Any  # Edges or PairEdges: kernels tell them apart
AnyLattice = Any  # Lattice or PairLattice

PAIRS = "fastcrf.chain.pair_expectations"


def edges_of(features: FeatureMap, weights: Floats, padded: int) -> AnyEdges:
    """The transition scores of a compact vector of weights."""
    return edges_from(features.order, transition_matrix(features, weights), padded)


def edges_from(order: int, scores: Floats, padded: int) -> AnyEdges:
    """The same of weights [histories, K]."""
    return make_edges(scores, padded) if order == 1 else pairs().make_pair_edges(scores, padded)


def lattice_of(order: int, n_positions: int, n_labels: int, padded: int) -> AnyLattice:
    """Work space for so many positions."""
    make = make_lattice if order == 1 else pairs().make_pair_lattice
    return make(n_positions, n_labels, padded)


def pairs() -> Any:
    """The file that says what the functions of kernels mean for pairs of labels."""
    return import_module(PAIRS)
