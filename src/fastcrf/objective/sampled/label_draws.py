"""Label sequences drawn from the model, and the variance of each label, from one run of forward-backward.

A label sequence is drawn from the end to the start, from the forward messages (forward-backward.py):

    p(y_t = j | y_{t+1} = k, x)  is proportional to  alpha_t(j) M(j, k)

A sequence whose score range is too large for the probability domain is left out: its draws are all equal to 0 and its
variances are 0. What uses them, the first curvature of a solver, need not be exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.feature_space.layout import Positions
from fastcrf.inference.expectations import add_edges, end_of_block, scatter_block, score_block
from fastcrf.inference.forward_backward import WIDEST_SPREAD, backward, forward, shift_scores
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.simd.exponential import exponentiate
from fastcrf.simd.lanes import flat_rows


class LabelDraws(NamedTuple):
    """Draws for all positions of a corpus."""

    squares: Positions  # those of the corpus with the squares of its values
    uniforms: np.ndarray  # [P] random numbers from 0 to 1, for all draws
    shifts: np.ndarray  # [draws] the position whose number comes first: each draw of a sequence has numbers of its own
    labels: np.ndarray  # [draws, P] int16, the drawn label sequences


@outlined_kernel
def draw_labels(lattice, first, last, edges, base, draws, n_labels):
    """Draw label sequences of the positions first..last-1 of a block that begins at position `base`.

    Writes: draws.labels.
    """
    alpha, follow = lattice.alpha, edges.backward
    for n in range(len(draws.labels)):
        after, shift = -1, base + draws.shifts[n]
        for t in range(last - 1, first - 1, -1):
            total = 0.0
            for j in range(n_labels):
                total += alpha[t, j] * follow[after, j] if after >= 0 else alpha[t, j]
            place = shift + t if shift + t < len(draws.uniforms) else shift + t - len(draws.uniforms)
            left, chosen = draws.uniforms[place] * total, 0
            for j in range(n_labels):
                part = alpha[t, j] * follow[after, j] if after >= 0 else alpha[t, j]
                if part > 0.0:  # a label of probability 0 is never drawn, whatever is left of the rounding
                    chosen = j
                    left -= part
                    if left < 0.0:
                        break
            draws.labels[n, base + t] = chosen
            after = chosen


@outlined_kernel
def leave_out(lattice, first, last, base, draws):
    """Let the positions first..last-1 contribute nothing. Writes: lattice, draws.labels."""
    for t in range(first, last):
        for k in range(lattice.scores.shape[1]):
            lattice.scores[t, k] = lattice.follow[t, k] = lattice.alpha[t, k] = 0.0
        for n in range(len(draws.labels)):
            draws.labels[n, base + t] = 0


@noalloc_kernel
def draw_sequences(sequences, first, last, lattice, expected, draws, n_labels, lanes):
    """Draw label sequences of the sequences first..last-1; add sum_t x^2 p (1 - p) of each feature to `expected`.

    Instead of variances, transitions have their expected counts, which bound them. All are weighted by the weights of
    the sequences. Writes: draws.labels, expected, lattice.
    """
    starts, weights, edges = sequences.positions.starts, sequences.weights, sequences.edges
    while first < last:
        end, base = end_of_block(starts, first, last), starts[first]
        score_block(sequences.positions, sequences.table, lattice.bias, first, end, lattice.scores, lanes)
        for i in range(first, end):
            a, b, weight = starts[i] - base, starts[i + 1] - base, weights[i] if len(weights) > 0 else 1.0
            _, spread = shift_scores(lattice, a, b, lanes)
            if spread + edges.spread > WIDEST_SPREAD or weight == 0.0:
                leave_out(lattice, a, b, base, draws)
            else:
                exponentiate(flat_rows(lattice.scores, a, b))
                forward(lattice, a, b, edges, n_labels, lanes)
                draw_labels(lattice, a, b, edges, base, draws, n_labels)
                backward(lattice, a, b, edges, weight, n_labels, lanes)
                for t in range(a, b):
                    for k in range(n_labels):
                        mean = lattice.scores[t, k]  # weight times the probability
                        lattice.scores[t, k] = mean * max(0.0, 1.0 - mean / weight)
        add_edges(lattice, starts[end] - base, edges, n_labels, expected.edges, lanes)
        scatter_block(draws.squares, first, end, lattice.scores, expected.table, lanes)
        first = end


class Members(NamedTuple):
    """The features of a block, by number from 0 to d - 1; -1 for others."""

    rows: np.ndarray  # [A] int32, the row in `slots` of each attribute, or -1
    slots: np.ndarray  # [rows, K] int32
    edges: np.ndarray  # [K, K] int32


class Difference(NamedTuple):
    """Work arrays of a thread: a vector of differences, and its entries that are not 0."""

    vector: np.ndarray  # [d], 0 between calls
    columns: np.ndarray  # [d] int64


@outlined_kernel
def subtract_features(corpus, members, labels, sign, other, i, vector):
    """Add sign * f(x_i, labels), where the labels differ from those of `other`. Writes: vector."""
    before, has_values = corpus.starts[i], len(corpus.values) > 0
    for t in range(before, corpus.starts[i + 1]):
        differs = labels[t] != other[t]
        if differs:
            for o in range(corpus.offsets[t], corpus.offsets[t + 1]):
                row = members.rows[corpus.attributes[o]]
                if row >= 0 and members.slots[row, labels[t]] >= 0:
                    vector[members.slots[row, labels[t]]] += sign * (corpus.values[o] if has_values else 1.0)
        if t > before and (differs or labels[t - 1] != other[t - 1]):
            edge = members.edges[labels[t - 1], labels[t]]
            if edge >= 0:
                vector[edge] += sign


@noalloc_kernel
def add_differences(corpus, members, labels, part, n_parts, difference, block):
    """Add sum_i s_i c c' for c = f(x_i, labels[0]) - f(x_i, labels[1]), on and below the diagonal.

    Each of `n_parts` threads has its own rows of the block, so that the sums do not depend on their number.
    Writes: block; difference, and leaves its vector 0.
    """
    vector, columns = difference.vector, difference.columns
    for i in range(len(corpus.starts) - 1):
        subtract_features(corpus, members, labels[0], 1.0, labels[1], i, vector)
        subtract_features(corpus, members, labels[1], -1.0, labels[0], i, vector)
        n, weight = 0, corpus.weights[i] if len(corpus.weights) > 0 else 1.0
        for f in range(len(vector)):
            if vector[f] != 0.0:
                columns[n] = f
                n += 1
        for a in range(n):
            row = columns[a]
            if row % n_parts == part:
                here = weight * vector[row]
                for b in range(a + 1):
                    block[row, columns[b]] += here * vector[columns[b]]
        for a in range(n):
            vector[columns[a]] = 0.0
