"""The head of a sparse model: weights with a dense block of the first Hessian, whose zeros are constraints.

In the variables z = L'u of the head (`dense_head.py`) B0 is sigma I, as it is on the tail, but a weight that goes to
zero is not a single variable there. Let R be the weights of the head that go to zero, e the signs of the others, W the
rows of the pairs on the head, g and tau gradient and thresholds there, and P = (L L')^-1. With a multiplier for each
weight of R, the minimum of the model of `sparse_model.py` on this face has

    z = W'x / sigma - L^-1 (g + tau e + lambda) / sigma,      u = L^-T z
    P_RR lambda = (V'x - P (g + tau e))_R + sigma w_R,        V = W L^-1

and the head adds these terms to the small system for x:

    matrix    - (W W' - V_R P_RR^-1 V_R') / sigma
    right     - (V (g + tau e) - V_R P_RR^-1 ((P (g + tau e))_R - sigma w_R)) / sigma

So no factor of a face is needed, only one of P_RR, which is small where few weights of the head are zero. The smooth
part's gradient on R is -lambda: a weight whose lambda exceeds its threshold leaves R, and one that changes sign enters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.solvers.quasi_newton.dense_head import DenseHead


class HeadFigures(NamedTuple):
    """The numbers of the head's weights at a point."""

    weights: Floats
    gradient: Floats
    thresholds: Floats  # tau

    def steepest(self) -> Floats:
        """Return the pseudo-gradient: the subgradient of smallest size in each coordinate."""
        w, g, tau = self
        return np.where(w == 0.0, g - np.clip(g, -tau, tau), g + tau * np.sign(w))


class HeadTerms(NamedTuple):
    """What the head adds to both sides of the small system, in the units of the rows."""

    inner: Floats
    right: Floats


class HeadStep(NamedTuple):
    """The step of a round on the head, and its terms of the model's value, as in `Round`."""

    target: Floats  # weights
    promised: float
    square: float
    changes: int


class HeadRows:
    """The pair rows of the head, and what they are in units of the weights; of one head."""

    def __init__(self, head: DenseHead) -> None:
        self.head = head
        self.inverse = head.inverse.T @ head.inverse  # P
        self.steps = np.empty((0, len(head.members)))  # V

    def learn(self, basis: np.ndarray, slots: range | list[int]) -> None:
        """Compute V for the pairs of some slots, one by one so that the result does not depend on how many there are.

        Writes: steps.
        """
        if len(self.steps) < len(basis):
            self.steps = np.pad(self.steps, ((0, len(basis) - len(self.steps)), (0, 0)))
        for slot in slots:
            for row in (2 * slot, 2 * slot + 1):
                self.steps[row] = self.head.to_steps(basis[row, self.head.members])


class HeadFace:
    """The head in the rounds of one model. rows: W, [rows, d]."""

    def __init__(self, rows: HeadRows, basis: np.ndarray, figures: HeadFigures) -> None:
        self.head, self.steps, self.inverse, self.figures = rows.head, rows.steps[: len(basis)], rows.inverse, figures
        self.rows = basis[:, self.head.members].astype(np.float64)
        self.squares = self.rows @ self.rows.T
        self.signs = np.sign(figures.weights)

    def terms(self, sigma: float) -> HeadTerms:
        """Return the head's terms of the small system on the face of `signs`. Writes: what `step` needs."""
        w, g, tau = self.figures
        self.out = np.flatnonzero(self.signs == 0.0)
        self.pull = g + tau * self.signs
        self.pulled = (self.inverse @ self.pull.astype(np.float32)).astype(np.float64)
        self.of_out = self.inverse[np.ix_(self.out, self.out)].astype(np.float64)  # P_RR
        known = np.column_stack((self.steps[:, self.out].T, self.pulled[self.out] - sigma * w[self.out]))
        solved = np.linalg.solve(self.of_out, known)
        inner = self.squares - self.steps[:, self.out] @ solved[:, :-1]
        right = (self.steps[:, self.out] @ solved[:, -1] - self.steps @ self.pull) / sigma
        return HeadTerms(0.5 * (inner + inner.T), right)

    def step(self, on_rows: Floats, sigma: float) -> HeadStep:
        """Return the step for the solution of the small system; choose the next face. Writes: signs."""
        w, g, tau = self.figures
        wanted = on_rows @ self.steps[:, self.out] - self.pulled[self.out] / sigma + w[self.out]
        multipliers = np.zeros(len(w))
        multipliers[self.out] = sigma * np.linalg.solve(self.of_out, wanted)
        z = on_rows @ self.rows - self.head.of_gradients(self.pull + multipliers) / sigma
        target = w + self.head.to_steps(z)
        target[self.out] = 0.0
        promised = float(g @ (target - w) + tau @ (np.abs(target) - np.abs(w)))
        kept = np.where(target * self.signs > 0.0, self.signs, 0.0)
        entering = np.where(np.abs(multipliers) > tau, np.sign(multipliers), 0.0)
        following = np.where(self.signs == 0.0, entering, kept)
        changes = int(np.count_nonzero(following != self.signs))
        self.signs = following
        return HeadStep(target, promised, float(z @ z), changes)
