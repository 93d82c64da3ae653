"""Probabilities of segments in chains of order 1, compiled; segments.py says what they are.

Labels are a Markov chain, so that with the probability p_t(j, k) of the labels j, k at t - 1 and t, from
forward-backward, and q_t(k) that of all label sequences that are right up to t and have k there:

    q_t(k) = sum over allowed j of q_{t-1}(j) p_t(j, k) / p_{t-1}(j)

A sequence with a large score range, whose p_t(j, k) is not kept, is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.decoding import segments as plain_segments
from fastcrf.decoding.compiled_decoder import live_labels_of, prepared
from fastcrf.decoding.scores import score_positions
from fastcrf.decoding.segments import SegmentRules
from fastcrf.inference.expectations import infer
from fastcrf.inference.masks import mask_scores
from fastcrf.jit.kernel import kernel, outlined_kernel
from fastcrf.simd.widths import choose_width

UNKNOWN = -1.0  # a probability that is left to NumPy


class Segments(NamedTuple):
    """Segments of a corpus, and how labels make them."""

    starts: np.ndarray  # [N + 1] first segment of each sequence
    kinds: np.ndarray  # types
    firsts: np.ndarray
    lasts: np.ndarray  # last position + 1
    kind: np.ndarray  # [K] type of each label
    begins: np.ndarray  # [K, K]


def segment_probabilities(
    corpus: Corpus, features: FeatureMap, weights: Floats, rules: SegmentRules,
    segments: Sequence[Sequence[tuple[int, int, int]]], allowed: Allowed | None = None,
) -> list[list[float]]:  # fmt: skip
    """Compute the probability of each segment (type, first, last + 1), counted from its sequence's first position."""
    listed = np.array([each for own in segments for each in own], np.int64).reshape(-1, 3)
    starts = np.concatenate(([0], np.cumsum([len(own) for own in segments]))).astype(np.int64)
    kinds, firsts, lasts = listed.T.copy()
    wanted = Segments(starts, kinds, firsts, lasts, rules.kind.astype(np.int64), rules.begins)
    live = np.empty((0, features.n_labels), np.bool_) if allowed is None else live_labels_of(corpus, allowed)
    edges, lattice = prepared(corpus, features, weights, allowed)
    chances, lanes = np.zeros(len(listed)), (0,) * choose_width(features.n_labels)[0]
    fill_chances(corpus, features, weights, edges, lattice, live, (wanted, chances), lanes)
    found = [chances[a:b].tolist() for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    for i, own in enumerate(found):
        if UNKNOWN in own:
            a, b = corpus.starts[i : i + 2].tolist()
            alone = corpus.slice_of(i, i + 1), features, weights, rules, [segments[i]]
            (found[i],) = plain_segments.segment_probabilities(*alone, allowed and allowed.slice_of(a, b))
    return found


@kernel
def fill_chances(corpus, features, weights, edges, lattice, live, wanted_and_chances, lanes):
    """Compute the probability of each segment; `live` as in compiled_decoder.py. Writes: the chances, lattice."""
    wanted, chances = wanted_and_chances
    K = features.n_labels
    wide_edges = np.zeros(edges.scores.shape)
    work, row = np.empty((2, K)), np.int64(0)
    for i in range(len(corpus.starts) - 1):
        first, last = corpus.starts[i], corpus.starts[i + 1]
        if wanted.starts[i] == wanted.starts[i + 1]:
            continue
        for t in range(last - first):
            lattice.scores[t] = lattice.bias[0]
        score_positions(corpus, features, weights, first, last, lattice.scores)
        if len(live) > 0:
            mask_scores(lattice.scores[: last - first], live, first)
        infer(lattice, row, row + last - first, edges, 1.0, wide_edges, K, lanes)
        for n in range(wanted.starts[i], wanted.starts[i + 1]):
            chances[n] = chance_of(lattice, edges, last - first, wanted, n, work)


@outlined_kernel
def chance_of(lattice, edges, length, wanted, n, work):
    """Return the probability of segment n of a sequence after `infer`, or UNKNOWN. Writes: work [2, K]."""
    kind, begins, own, K = wanted.kind, wanted.begins, wanted.kinds[n], work.shape[1]
    first, last, here, total = wanted.firsts[n], wanted.lasts[n], 0, 0.0
    for t in range(1, length):
        kept = False
        for k in range(K):
            kept = kept or lattice.follow[t, k] != 0.0
        if not kept:
            return UNKNOWN
    for k in range(K):
        work[0, k] = 0.0
        if kind[k] == own and first == 0:
            work[0, k] = lattice.scores[0, k]
        elif kind[k] == own:
            for j in range(K):
                if begins[j, k]:
                    work[0, k] += lattice.alpha[first - 1, j] * edges.forward[j, k] * lattice.follow[first, k]
    for t in range(first + 1, min(last + 1, length)):
        for k in range(K):
            work[1 - here, k] = 0.0
        for j in range(K):
            if work[here, j] > 0.0:
                share = work[here, j] / lattice.scores[t - 1, j] * lattice.alpha[t - 1, j]
                for k in range(K):
                    goes_on = kind[k] == own and not begins[j, k]
                    if goes_on == (t < last):
                        work[1 - here, k] += share * edges.forward[j, k] * lattice.follow[t, k]
        here = 1 - here
    for k in range(K):
        total += work[here, k]
    return min(total, 1.0)
