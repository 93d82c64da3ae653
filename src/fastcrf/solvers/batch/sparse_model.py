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
SHARD = 1 << 12  # candidates that make it worth waking a thread


class Columns:
    """What the rows of the pairs say of each candidate, [candidates, rows]: s_1 ... s_m, y_1 ... y_m, oldest first."""

    def __init__(self, pairs: CurvaturePairs, candidates: Longs) -> None:
        self.pairs = pairs
        self.rows = np.array([2 * slot for slot in pairs.order] + [2 * slot + 1 for slot in pairs.order], np.int64)
        n_shards = max(1, min(len(pairs.bounds) - 1, len(candidates) // SHARD))
        self.bounds = np.linspace(0, len(candidates), n_shards + 1).astype(np.int64)
        self.array = np.empty((len(candidates), len(self.rows)), pairs.basis.dtype)
        arrays = pairs.basis, self.rows, candidates
        pairs.on_threads(lambda first, last: gather_columns(*arrays, first, last, self.array), self.bounds)

    def weigh(self, factors: Floats) -> Floats:
        """sum_a factors[a] * column a, [rows]."""
        return np.sum(self.pairs.on_threads(lambda *some: weigh(self.array, factors, *some), self.bounds), axis=0)

    def mix(self, on_rows: Floats) -> Floats:
        """on_rows . column a, [candidates]."""
        mixed = np.empty(len(self.array))
        self.pairs.on_threads(lambda first, last: mix(self.array, on_rows, first, last, mixed), self.bounds)
        return mixed

    def squares(self, signs: Floats) -> Floats:
        """sum_a signs[a] * (products of column a with itself), [rows, rows]."""
        below = np.sum(self.pairs.on_threads(lambda *some: add_squares(self.array, signs, *some), self.bounds), axis=0)
        return np.tril(below) + np.tril(below, -1).T


class SparseModel(NamedTuple):
    """The model on the candidates."""

    slopes: Floats  # q
    places: Floats  # v
    thresholds: Floats  # tau
    sigma: float
    columns: Columns
    lengths: Floats  # [rows] factors of the columns' numbers that make the diagonal of M 1 or -1
    middle: Floats  # M, in these units


class SparseStep(NamedTuple):
    """A step on the candidates, and what the model expects it to gain (negative)."""

    step: Floats
    gain: float


def make_model(
    pairs: CurvaturePairs, candidates: Longs, weights: Floats, gradient: Floats, c1: float, sigma: float
) -> SparseModel:
    """The model at `weights`; sigma is the curvature to assume while there are no pairs.

    Candidates must include where the newest pair has moved: it is learnt on the way.
    """
    scale = pairs.scale[candidates]
    slopes, places = gradient[candidates] * scale, weights[candidates] / scale
    columns = Columns(pairs, candidates)
    if pairs.order:
        learn_newest(pairs, columns)
        if len(pairs.order) * 2 < len(columns.rows):  # it was dropped
            columns = Columns(pairs, candidates)
    if not pairs.order:
        nothing = np.zeros(0)
        return SparseModel(slopes, places, c1 * scale, sigma, columns, nothing, nothing.reshape(0, 0))
    sigma, lengths, middle = compact_form(pairs.gram[np.ix_(columns.rows, columns.rows)])
    return SparseModel(slopes, places, c1 * scale, sigma, columns, lengths, middle)


def learn_newest(pairs: CurvaturePairs, columns: Columns) -> None:
    """Inner products with the newest pair, over the candidates: all others have not moved. Writes: pairs.

    Of products of two y only that of the newest with itself is needed, over all weights.
    """
    m = len(pairs.order)
    newest = columns.weigh(columns.array[:, m - 1].astype(np.float64))
    products = np.zeros((2 * pairs.used, 2))
    products[columns.rows, 0] = newest
    s, y = columns.rows[m - 1], columns.rows[2 * m - 1]
    products[s, 1] = newest[2 * m - 1]
    products[y, 1] = sum(pairs.on_threads(lambda *some: square(pairs.basis[y], *some), pairs.bounds))
    # s_i . y for older s_i stays unknown: the compact form asks for s_i . y_j with i after j only
    pairs.learn(products)


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
    q, v, tau, sigma, columns, lengths, middle = model
    inverse = np.linalg.inv(middle)
    slopes, step = q, np.zeros_like(q)
    signs, inner = np.zeros(len(q)), np.zeros_like(middle)  # of what is guessed not to be zero; W' W over it
    best: SparseStep | None = None
    for _ in range(MOST_ROUNDS):
        guessed = guess(v, step, slopes, tau, sigma)
        change = np.abs(guessed) - np.abs(signs)
        if best is not None and np.array_equal(guessed, signs):
            break
        signs = guessed
        inner += columns.squares(change)
        to_zero = np.where(signs == 0.0, -v, 0.0)
        pull = inverse @ (lengths * columns.weigh(to_zero))
        right = np.where(signs == 0.0, 0.0, columns.mix(lengths * pull) - q - tau * signs)
        reduced = middle - inner * np.outer(lengths, lengths) / sigma
        bend = np.linalg.solve(reduced, lengths * columns.weigh(right))
        bent_back = columns.mix(lengths * bend / sigma**2)
        step = np.where(signs == 0.0, to_zero, right / sigma + bent_back)
        on_rows = lengths * columns.weigh(step)
        bent = inverse @ on_rows
        slopes = q + sigma * step - columns.mix(lengths * bent)
        gain = smooth_and_kinks(q, v, tau, sigma, step) - 0.5 * float((on_rows * bent).sum())
        if gain < (best.gain if best else 0.0):
            best = SparseStep(step, gain)
    return best


@kernel
def guess(v, step, slopes, tau, sigma):
    """The signs after a proximal step of the model: 0 for what it sets to zero."""
    signs = np.zeros(len(v))
    for a in range(len(v)):
        target = v[a] + step[a] - slopes[a] / sigma
        if target > tau[a] / sigma:
            signs[a] = 1.0
        elif target < -tau[a] / sigma:
            signs[a] = -1.0
    return signs


@borrowing_kernel
def smooth_and_kinks(q, v, tau, sigma, step):
    """q.u + sigma |u|^2 / 2 + sum tau (|v + u| - |v|): the model's gain without its pairs."""
    total = 0.0
    for a in range(len(q)):
        u = step[a]
        total += q[a] * u + 0.5 * sigma * u * u + tau[a] * (abs(v[a] + u) - abs(v[a]))
    return total


@borrowing_kernel
def square(row, first, last):
    """|row[first:last]|^2"""
    total = 0.0
    for f in range(first, last):
        total += np.float64(row[f]) * np.float64(row[f])
    return total


@borrowing_kernel
def gather_columns(basis, rows, candidates, first, last, columns):
    """columns[a, i] = basis[rows[i], candidates[a]] for candidates first:last. Writes: columns."""
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        for i in range(len(rows)):
            for a in range(start, stop):
                columns[a, i] = basis[rows[i], candidates[a]]


@kernel
def add_squares(columns, signs, first, last):
    """sum_a signs[a] * (products of column a with itself) over first:last, on and below the diagonal."""
    n = columns.shape[1]
    inner, held, signed = np.zeros((n, n)), np.zeros((4, n)), np.zeros((4, n))
    k = 0
    for a in range(first, last):
        if signs[a] != 0.0:
            for i in range(n):
                held[k, i] = columns[a, i]
                signed[k, i] = signs[a] * columns[a, i]
            k += 1
            if k == 4:
                add_four(held, signed, inner)
                k = 0
    for i in range(k * n, 4 * n):
        signed[i // n, i % n] = 0.0
    add_four(held, signed, inner)
    return inner


@borrowing_kernel
def add_four(held, signed, inner):
    """Writes: inner, on and below the diagonal."""
    for i in range(len(inner)):
        a, b, c, d = signed[0, i], signed[1, i], signed[2, i], signed[3, i]
        for j in range(i + 1):
            inner[i, j] += a * held[0, j] + b * held[1, j] + c * held[2, j] + d * held[3, j]


@kernel
def weigh(columns, factors, first, last):
    """sum_a factors[a] * columns[a] over first:last, [rows]; candidates with a factor of 0 cost nothing."""
    total = np.zeros(columns.shape[1])
    for a in range(first, last):
        if factors[a] != 0.0:
            factor = factors[a]
            for i in range(len(total)):
                total[i] += factor * columns[a, i]
    return total


@borrowing_kernel
def mix(columns, on_rows, first, last, mixed):
    """mixed[a] = columns[a] . on_rows for a in first:last. Writes: mixed."""
    for a in range(first, last):
        total = 0.0
        for i in range(len(on_rows)):
            total += on_rows[i] * columns[a, i]
        mixed[a] = total
