"""A dense block of the first Hessian: on a few weights, the head, B0 is a full matrix; elsewhere it is diagonal.

With the Cholesky factor L L' = B0 of the head, the variables of the rows of `curvature_pairs.py` are L' w there, in
which B0 is the identity: a row of weights s is L' s, and a row of gradients y is L^-1 y. L and its inverse are in
single precision, like the rows: a step reads both twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.solver_state import StateField, StateMismatch
from fastcrf.core.types import Floats, Longs

Singles = NDArray[np.float32]

SMALL = 64  # rows of a triangle that is inverted at once
SLICE = 1 << 15  # weights at a time, where rows are needed in double precision
STATE_FIELDS = {
    "head": StateField(dtype="int64", low=0, n_axes=1, optional=True),
    "root": StateField(dtype="float32", n_axes=2, optional=True),
}


class DenseHead(NamedTuple):
    """The weights of the head, and the Cholesky factor of its block."""

    members: Longs  # [d] weights, in ascending order
    root: Singles  # [d, d] L
    inverse: Singles  # [d, d] L^-1

    def of_steps(self, steps: Floats) -> Singles:
        """Return the rows L' s for rows of changes of the head's weights."""
        return steps.astype(np.float32) @ self.root

    def of_gradients(self, gradients: Floats | Singles) -> Singles:
        """Return the rows L^-1 y for rows of gradients on the head."""
        return gradients.astype(np.float32) @ self.inverse.T

    def to_steps(self, rows: Floats | Singles) -> Singles:
        """Return the changes L^-T r of the head's weights for rows r."""
        return rows.astype(np.float32) @ self.inverse

    def to_gradients(self, rows: Floats) -> Singles:
        """Return the gradients L r on the head for rows r."""
        return rows.astype(np.float32) @ self.root.T

    def state(self) -> dict[str, Any]:
        return {"head": self.members, "root": self.root}


def dense_head(members: Longs, block: Floats) -> DenseHead | None:
    """Return the head with this block, or None if the block is not positive definite."""
    try:
        root = np.linalg.cholesky(block).astype(np.float32)
    except np.linalg.LinAlgError:
        return None
    return DenseHead(members, root, inverse_in_singles(root))


def inverse_in_singles(root: Singles) -> Singles:
    """Return the inverse, computed in double precision."""
    return inverse_of(root.astype(np.float64)).astype(np.float32)


def inverse_of(lower: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix, by halves: the inverse of each half, and a product."""
    d = len(lower)
    if d <= SMALL:
        return np.tril(np.linalg.inv(lower))
    h = d // 2
    inverse = np.zeros_like(lower)
    inverse[:h, :h], inverse[h:, h:] = inverse_of(lower[:h, :h]), inverse_of(lower[h:, h:])
    inverse[h:, :h] = -inverse[h:, h:] @ lower[h:, :h] @ inverse[:h, :h]
    return inverse


def head_of(name: str, state: Mapping[str, Any], n_weights: int) -> DenseHead | None:
    """Return the head of a state, if it has one; `name` is that of the solver, for messages."""
    if "head" not in state:
        return None
    members, root = np.array(state["head"]), np.array(state["root"])
    if root.shape != (len(members), len(members)):
        raise StateMismatch(name, f"'root' has the shape {root.shape}, but the head has {len(members)} weights")
    if len(members) and not (members[-1] < n_weights and (np.diff(members) > 0).all() and (np.diag(root) > 0).all()):
        raise StateMismatch(name, "'head' and 'root' are not a block of the first Hessian")
    return DenseHead(members, root, inverse_in_singles(root))


def rebased(s: Floats, y: Floats, before: DenseHead | None, after: DenseHead | None) -> tuple[Floats, Floats]:
    """Return the rows of a pair, given without scales, with the head `after` instead of `before`. Writes: s, y."""
    if before is not None:
        some = before.members
        s[some], y[some] = before.to_steps(s[some]), before.to_gradients(y[some])
    if after is not None:
        some = after.members
        s[some], y[some] = after.of_steps(s[some]), after.of_gradients(y[some])
    return s, y


def with_ridge(name: str, state: Mapping[str, Any], ridge: float) -> dict[str, np.ndarray]:
    """Return the rows of a state's pairs and their inner products after y <- y + ridge s."""
    moved, scale = state["basis"].copy(), state["scale"]
    change = scale * scale * moved[::2]
    head = head_of(name, state, len(scale))
    if head is not None:
        change[:, head.members] = head.of_gradients(head.to_steps(moved[::2, head.members]))
    moved[1::2] += (ridge * change).astype(moved.dtype)
    return {"basis": moved, "gram": products_of(moved)}


def products_of(rows: np.ndarray) -> Floats:
    """Return the inner products of rows, summed in double precision."""
    products = np.zeros((len(rows), len(rows)))
    for first in range(0, rows.shape[1], SLICE):
        some = rows[:, first : first + SLICE].astype(np.float64)
        products += some @ some.T
    return products
