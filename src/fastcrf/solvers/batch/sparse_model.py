"""The quadratic model of quasi-Newton plus c1 |w|_1, and where it is lowest: a step with exact zeros.

With u the step in the variables w / scale of `curvature_pairs.py`, v = w / scale, q the gradient there, tau = c1 scale

    minimise over u   q.u + u.B u / 2 + sum_f tau_f |v_f + u_f|,      B = sigma I - W M^-1 W'

where W holds the rows of the pairs, sigma s and y, and M is a small matrix of their inner products (Byrd, Nocedal &
Schnabel 1994, "Representations of quasi-Newton matrices and their use in limited memory methods", Mathematical
Programming 63, theorem 2.3). Only candidates move: weights that are not zero, and those that the gradient pulls away
from zero.

The method is semi-smooth Newton (Hintermüller, Ito & Kunisch 2003, "The primal-dual active set strategy as a
semismooth Newton method", SIAM J. Optimization 13): what will not be zero is guessed, with its sign, by one proximal
step; the others go to zero; for the guessed ones the model is then quadratic and, by Woodbury's formula, its lowest
point costs the solution of a small system. The guess is repeated until it no longer changes, mostly twice; the best
point of the rounds counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.kernel import borrowing_kernel, kernel
from fastcrf.solvers.batch.curvature_pairs import CurvaturePairs
from fastcrf.types import Floats, Longs

MOST_ROUNDS = 5
BLOCK = 256  # candidates whose columns stay in the cache while all rows are gathered


class SparseModel(NamedTuple):
    """The model on the candidates. A column is what all rows say of one candidate."""

    slopes: Floats  # q
    places: Floats  # v
    thresholds: Floats  # tau
    sigma: float
    columns: np.ndarray  # [candidates, rows] of W before `lengths`
    lengths: Floats  # [rows] factors of the rows that make the diagonal of M 1 or -1
    middle: Floats  # M, in these units


class SparseStep(NamedTuple):
    """A step on the candidates, what the model expects it to gain (negative), and the rounds that it took."""

    step: Floats
    gain: float
    rounds: int


def make_model(
    pairs: CurvaturePairs, candidates: Longs, weights: Floats, gradient: Floats, c1: float, sigma: float
) -> SparseModel:
    """sigma: the curvature to assume while there are no pairs."""
    scale = pairs.scale[candidates]
    slopes, places = gradient[candidates] * scale, weights[candidates] / scale
    if not pairs.order:
        nothing = np.zeros(0)
        columns = np.zeros((len(candidates), 0), pairs.basis.dtype)
        return SparseModel(slopes, places, c1 * scale, sigma, columns, nothing, nothing.reshape(0, 0))
    rows = np.array([2 * slot for slot in pairs.order] + [2 * slot + 1 for slot in pairs.order])
    columns = np.empty((len(candidates), len(rows)), pairs.basis.dtype)
    gather_columns(pairs.basis, rows, candidates, columns)
    sigma, lengths, middle = compact_form(pairs.gram[np.ix_(rows, rows)])
    return SparseModel(slopes, places, c1 * scale, sigma, columns, lengths, middle)


def compact_form(gram: Floats) -> tuple[float, Floats, Floats]:
    """(sigma, factors of the rows, M) from inner products of s_1 ... s_m, y_1 ... y_m, oldest first."""
    m = len(gram) // 2
    ss, sy, yy = gram[:m, :m], gram[:m, m:], gram[m:, m:]
    sigma = float(yy[-1, -1] / sy[-1, -1])
    middle = np.block([[sigma * ss, np.tril(sy, -1)], [np.tril(sy, -1).T, -np.diag(np.diag(sy))]])
    unit = 1.0 / np.sqrt(np.abs(np.diag(middle)))
    return sigma, unit * np.concatenate((np.full(m, sigma), np.ones(m))), middle * np.outer(unit, unit)


def lowest(model: SparseModel) -> SparseStep | None:
    """The best step of a few rounds; None if none promises a gain."""
    q, v, tau, sigma = model.slopes, model.places, model.thresholds, model.sigma
    columns, lengths, middle = model.columns, model.lengths, model.middle
    inverse = np.linalg.inv(middle)
    slopes, step = q, np.zeros_like(q)
    signs = np.zeros(len(q), np.int8)
    inner = np.zeros_like(middle)  # W' W over the guessed ones
    best: SparseStep | None = None
    for round_ in range(1, MOST_ROUNDS + 1):
        target = v + step - slopes / sigma
        guessed = np.where(np.abs(target) > tau / sigma, np.sign(target), 0.0).astype(np.int8)
        if round_ > 1 and np.array_equal(guessed, signs):
            break
        is_in, was_in, signs = guessed != 0, signs != 0, guessed
        add_squares(columns, np.flatnonzero(is_in & ~was_in), 1.0, inner)
        add_squares(columns, np.flatnonzero(was_in & ~is_in), -1.0, inner)
        to_zero = np.where(is_in, 0.0, -v)
        pull = inverse @ (lengths * weigh(columns, to_zero))
        right = np.where(is_in, mix(columns, lengths * pull) - q - tau * signs, 0.0)
        reduced = middle - inner * np.outer(lengths, lengths) / sigma
        bend = np.linalg.solve(reduced, lengths * weigh(columns, right))
        step = to_zero + np.where(is_in, right / sigma + mix(columns, lengths * bend) / sigma**2, 0.0)
        on_rows = lengths * weigh(columns, step)
        bent = inverse @ on_rows
        slopes = q + sigma * step - mix(columns, lengths * bent)
        change = float((tau * (np.abs(v + step) - np.abs(v))).sum())
        gain = float((q * step).sum()) + 0.5 * (sigma * float((step * step).sum()) - float(on_rows @ bent)) + change
        if gain < (best.gain if best else 0.0):
            best = SparseStep(step, gain, round_)
    return best


@borrowing_kernel
def gather_columns(basis, rows, candidates, columns):
    """columns[a, i] = basis[rows[i], candidates[a]]. Writes: columns."""
    for start in range(0, len(candidates), BLOCK):
        stop = min(start + BLOCK, len(candidates))
        for i in range(len(rows)):
            for a in range(start, stop):
                columns[a, i] = basis[rows[i], candidates[a]]


@borrowing_kernel
def add_squares(columns, which, sign, inner):
    """Add sign * (the column's products with itself) for some candidates. Writes: inner."""
    n = columns.shape[1]
    for o in range(len(which)):
        column = columns[which[o]]
        for i in range(n):
            factor = sign * column[i]
            for j in range(n):
                inner[i, j] += factor * column[j]


@kernel
def weigh(columns, factors):
    """sum_a factors[a] * columns[a], [rows]; candidates with a factor of 0 cost nothing."""
    total = np.zeros(columns.shape[1])
    for a in range(len(factors)):
        if factors[a] != 0.0:
            factor = factors[a]
            for i in range(len(total)):
                total[i] += factor * columns[a, i]
    return total


@kernel
def mix(columns, on_rows):
    """columns @ on_rows, [candidates]."""
    mixed = np.empty(len(columns))
    for a in range(len(columns)):
        total = 0.0
        for i in range(len(on_rows)):
            total += on_rows[i] * columns[a, i]
        mixed[a] = total
    return mixed
