"""The quadratic model of quasi-Newton plus c1 |w|_1, and its minimum: a step with exact zeros.

With u the step in the variables w / scale of `curvature_pairs.py`, v = w / scale, q the gradient there, tau = c1 scale

    minimize over u   q.u + u.B u / 2 + sum_f tau_f |v_f + u_f|,      B = sigma I - W M^-1 W'

where W holds the rows of the pairs, sigma s and y, and M is a small matrix of their inner products (Byrd, Nocedal &
Schnabel 1994, "Representations of quasi-Newton matrices and their use in limited memory methods", Mathematical
Programming 63, theorem 2.3). Only candidates move: nonzero weights, and those that the gradient pulls away from zero.

The method is semi-smooth Newton (Hintermüller, Ito & Kunisch 2003, "The primal-dual active set strategy as a semismooth
Newton method", SIAM J. Optimization 13). Let S, the face, be the guess of the nonzero weights, with their signs e. The
others go to zero; on the face the model is quadratic, and by Woodbury's formula

    (M - W_S'W_S / sigma) x = W_Z'(-v_Z) - W_S'(q + tau e)_S / sigma          a small system
    u_S = (W x - q - tau e)_S / sigma,      u_Z = -v_Z

A proximal step from there is soft(v + (W x - q) / sigma, tau / sigma), and its signs are the next guess, until nothing
changes or a round adds little, after three or four rounds; the best point of the rounds is used. W x is the only sum of
a round over the candidates: the sums on both sides are updated for the weights whose guess has changed. They are kept
from step to step for the current nonzero weights, and a new pair adds its own row of W_S'W_S.

If the first Hessian has a dense block, its weights are no candidates; `sparse_head.py` has their terms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField, StateMismatch
from fastcrf.core.types import NOTHING, Floats
from fastcrf.solvers.quasi_newton.curvature_pairs import CurvaturePairs
from fastcrf.solvers.quasi_newton.dense_head import DenseHead
from fastcrf.solvers.quasi_newton.sparse_columns import Columns, Figures, find_candidates, square
from fastcrf.solvers.quasi_newton.sparse_head import HeadFace, HeadFigures, HeadRows, HeadStep

MOST_ROUNDS = 8
ENOUGH = 0.2  # of the gain: a round that adds less is the last. A smaller share needs more rounds for as many steps
NONE = np.empty(0)
NO_STEP = HeadStep(NONE, 0.0, 0.0, 0)
STATE_FIELDS = {"inner": StateField(n_axes=2, optional=True)}


class SparseStep(NamedTuple):
    """The minimum of the model, and the predicted change on the way there (negative)."""

    target: Floats  # weights, a new array
    promised: float


class SparseModel:
    """The models of a run, one after another, from the same pairs.

    state: may hold the `state` of an earlier run, which the pairs are from; `name` is that of the solver.
    """

    def __init__(self, name: str, pairs: CurvaturePairs, state: Mapping[str, Any] = NOTHING) -> None:
        self.pairs, self.columns = pairs, Columns(pairs)
        self.inner = inner_of(name, state, 2 * pairs.used)  # W_S'W_S for w in units of the rows, or empty
        n = pairs.basis.shape[1]
        self._places, self._workspace = np.empty(n, np.int64), np.empty((len(Figures._fields), n))
        self._signs = np.empty(0)  # of the face that `inner` belongs to, on the candidates
        self._head_rows: HeadRows | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether there are neither pairs nor a preconditioner."""
        return self.pairs.is_plain

    def fall_back(self) -> None:
        """Drop the pairs; if there are none, the preconditioner."""
        self.pairs.fall_back()
        self._forget_sums()

    def rebase(self, scale: Floats, head: DenseHead | None) -> None:
        """Change the first Hessian of the pairs."""
        self.pairs.rebase(scale, head)
        self._forget_sums()

    def _forget_sums(self) -> None:
        self.columns.clear()
        self.inner = np.empty((0, 0))

    def lowest(self, weights: Floats, gradient: Floats, c1: float, factors: Floats = NONE) -> SparseStep | None:
        """Return the step to the minimum of the model, or None if it predicts no decrease.

        factors: the factor of c1 for each weight, if there are any.
        """
        pairs, tail = self.pairs, (weights, gradient)
        newest = pairs.basis[2 * pairs.order[-1]] if pairs.order else pairs.basis[0, :0]
        if pairs.head is not None:
            tail, newest = (without(pairs.head, weights), without(pairs.head, gradient)), without(pairs.head, newest)
        n, length = find_candidates(*tail, c1, factors, pairs.scale, newest, self._places, self._workspace)
        of_head = None
        if pairs.head is not None:
            of_head = head_figures(pairs.head, weights, gradient, c1, factors)
            length = math.hypot(length, float(np.linalg.norm(pairs.head.of_gradients(of_head.steepest()))))
        if not length > 0.0:
            return None
        figures = Figures(*(row[:n] for row in self._workspace))
        self.columns.gather(self._places[:n])
        pull = self._learn_newest(figures, weights) if pairs.order else np.zeros(0)
        return self._best_round(figures, weights, pull, length, self._face(of_head))

    def _face(self, figures: HeadFigures | None) -> HeadFace | None:
        """Return the head's part of the model, if there is a head. Writes: the rows of the head."""
        if self.pairs.head is None or figures is None:
            return None
        basis, order = self.pairs.basis[: 2 * self.pairs.used], self.pairs.order
        if self._head_rows is None or self._head_rows.head is not self.pairs.head:
            self._head_rows = HeadRows(self.pairs.head)
            self._head_rows.learn(basis, range(self.pairs.used))
        else:
            self._head_rows.learn(basis, order[-1:])
        return HeadFace(self._head_rows, basis, figures)

    def _learn_newest(self, figures: Figures, weights: Floats) -> Floats:
        """Compute inner products with the newest pair, over the candidates: all others have not moved.

        Also compute the pull on the face in the variables of the rows. Writes: pairs, inner. Of products of two y only
        that of the newest with itself is needed, over all weights. s_i . y for older s_i stays unknown: the compact
        form uses s_i . y_j with i after j only.
        """
        pairs, rows = self.pairs, 2 * self.pairs.used
        s, y = 2 * pairs.order[-1], 2 * pairs.order[-1] + 1
        of_s, of_y, pull, elsewhere = self.columns.sum_newest(figures)
        if len(self.inner) < rows - 2:
            self.inner = self.columns.shift(np.zeros(len(figures.signs)), weights)
        self.inner = np.pad(self.inner, (0, rows - len(self.inner)))
        self.inner[s] = self.inner[:, s] = of_s
        self.inner[y] = self.inner[:, y] = of_y
        products = np.zeros((rows, 2))
        products[:, 0] = of_s + elsewhere
        if pairs.head is not None:
            of_head = pairs.basis[:rows, pairs.head.members].astype(np.float64)
            products[:, 0] += of_head @ of_head[s]
        products[s, 1] = products[y, 0]
        products[y, 1] = sum(pairs.on_threads(lambda *some: square(pairs.basis[y], *some), pairs.bounds))
        pairs.learn(products)
        if s // 2 not in pairs.order:  # it had no curvature
            self.columns.array[:, s : y + 1] = self.inner[s : y + 1] = self.inner[:, s : y + 1] = pull[s : y + 1] = 0.0
        return pull

    def _best_round(
        self, figures: Figures, weights: Floats, pull: Floats, length: float, head: HeadFace | None
    ) -> SparseStep | None:
        """Return the best step of a few rounds. Writes: figures.signs, inner, which stays that of their face."""
        rows = np.array([2 * slot for slot in self.pairs.order] + [2 * slot + 1 for slot in self.pairs.order], np.int64)
        sigma, lengths, middle = compact_form(self.pairs.gram[np.ix_(rows, rows)], length)
        right, best, lowest, on_head = pull / sigma, None, 0.0, NO_STEP
        for _ in range(MOST_ROUNDS):
            on_rows = np.zeros(len(right))
            try:
                inner, both = self.inner, right
                if head is not None:
                    terms = head.terms(sigma)
                    inner, both = inner + terms.inner if len(inner) else terms.inner, right + terms.right
                reduced = middle - inner[np.ix_(rows, rows)] * np.outer(lengths, lengths) / sigma
                on_rows[rows] = lengths * np.linalg.solve(reduced, lengths * both[rows]) / sigma
                on_head = on_head if head is None else head.step(on_rows, sigma)
            except np.linalg.LinAlgError:
                break
            turned = self.columns.turn(figures, on_rows, sigma)
            bent = float((on_rows * (both + (inner * on_rows).sum(axis=1))).sum())
            promised, square = turned.promised + on_head.promised, turned.square + on_head.square
            gain = promised + 0.5 * sigma * (square - bent)
            right += turned.right
            self.inner = self.inner + turned.inner
            further = lowest - gain
            if further > 0.0:
                lowest, best = gain, (turned.step, on_head.target, promised)
            if turned.changes + on_head.changes == 0 or 0.0 < further < ENOUGH * -gain:
                break
        self._signs = figures.signs
        return None if best is None else SparseStep(self._moved(weights, figures, *best[:2]), best[2])

    def _moved(self, weights: Floats, figures: Figures, step: Floats, on_head: Floats) -> Floats:
        """Return the weights after a step on the candidates, with exact zeros, in a new array."""
        target, candidates = weights.copy(), self.columns.candidates
        ends = np.where(step == -figures.places, 0.0, weights[candidates] + self.pairs.scale[candidates] * step)
        target[candidates] = ends
        if self.pairs.head is not None:
            target[self.pairs.head.members] = on_head
        return target

    def settle(self, weights: Floats) -> None:
        """Update the sums for the weights at which the search along the step has ended. Writes: inner."""
        if len(self.inner):
            self.inner = self.inner + self.columns.shift(self._signs, weights)

    def add(self, weights: Floats, weights_before: Floats, gradient: Floats, gradient_before: Floats) -> None:
        """Store the pair of this move, along which the search has ended at `weights`."""
        self.settle(weights)
        self.pairs.add(weights, weights_before, gradient, gradient_before)

    def state(self) -> dict[str, Any]:
        """Return the arrays that a later run needs."""
        return {**self.pairs.state(), "inner": self.inner}


def compact_form(gram: Floats, length: float) -> tuple[float, Floats, Floats]:
    """Return (sigma, factors of the rows, M) from inner products of s_1 ... s_m, y_1 ... y_m, oldest first.

    Without pairs sigma is `length`, that of the steepest descent, which makes a step of about length 1.
    """
    m = len(gram) // 2
    if m == 0:
        return length, np.zeros(0), gram
    ss, sy, yy = gram[:m, :m], gram[:m, m:], gram[m:, m:]
    sigma = float(yy[-1, -1] / sy[-1, -1])
    middle = np.block([[sigma * ss, np.tril(sy, -1)], [np.tril(sy, -1).T, -np.diag(np.diag(sy))]])
    unit = 1.0 / np.sqrt(np.abs(np.diag(middle)))
    return sigma, unit * np.concatenate((np.full(m, sigma), np.ones(m))), middle * np.outer(unit, unit)


def inner_of(name: str, state: Mapping[str, Any], rows: int) -> Floats:
    """Return a copy of a state's sums, for `rows` rows or without those of the newest pair; empty if it has none."""
    inner = np.array(state.get("inner", np.zeros((0, 0))))
    if inner.shape not in ((size, size) for size in (0, rows - 2, rows)):
        raise StateMismatch(name, f"'inner' has the shape {inner.shape}, but there are {rows} rows of pairs")
    return inner


def without(head: DenseHead, vector: np.ndarray) -> np.ndarray:
    """Return a vector of all weights with zeros on the head."""
    tail = vector.copy()
    if len(tail):
        tail[head.members] = 0.0
    return tail


def head_figures(head: DenseHead, weights: Floats, gradient: Floats, c1: float, factors: Floats) -> HeadFigures:
    """Return the numbers of the head at a point."""
    some = head.members
    thresholds = c1 * factors[some] if len(factors) else np.full(len(some), c1)
    return HeadFigures(weights[some], gradient[some], thresholds)
