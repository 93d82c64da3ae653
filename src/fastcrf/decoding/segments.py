"""Segments in label sequences: which transitions begin one, and the probability of one.

`fastcrf.metrics.segments` says what a segment is. Its probability is that of all label sequences that have it: its
type, its first and its last token. It is found by forward-backward with the segment forced: a segment must begin at its
first token and at none of the others, and it must not go on behind its last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.decoding.held_out_counts import read_marks
from fastcrf.decoding.plain_decoder import (
    Steps,
    backward,
    forward,
    labels_of_states,
    log_sums,
    near_zero,
    scores_and_steps,
)
from fastcrf.metrics import Label, mark_and_type, marks_are_bare

Flags = NDArray[np.bool_]


class SegmentRules(NamedTuple):
    """How labels make segments."""

    types: list[Label]  # by number
    kind: Longs  # [K] number of the type of segment that a label belongs to, or -1 outside
    begins: Flags  # [K, K] whether a segment begins with label k after label j


def segment_rules(labels: Sequence[Label]) -> SegmentRules:
    """Return the rules for these labels."""
    inside, opens, closes, types = (each[:-1] for each in read_marks(labels))
    bare = marks_are_bare(labels)
    names = list(dict.fromkeys(mark_and_type(label, bare)[1] for label in labels))
    apart = closes[:, None] | (types[:, None] != types) | ~inside[:, None]
    return SegmentRules(names, np.where(inside, types, -1), inside & (opens | apart))


@np.errstate(all="ignore")
def segment_probabilities(
    corpus: Corpus, features: FeatureMap, weights: Floats, rules: SegmentRules,
    segments: Sequence[Sequence[tuple[int, int, int]]], allowed: Allowed | None = None,
) -> list[list[float]]:  # fmt: skip
    """Compute the probability of each segment (type, first, last + 1), counted from its sequence's first position."""
    scores, steps = scores_and_steps(corpus, features, weights, allowed)
    found: list[list[float]] = []
    for (first, last), wanted in zip(pairwise(corpus.starts.tolist()), segments, strict=True):
        if not wanted:
            found.append([])
            continue
        own, _, near = near_zero(scores[first:last], steps)
        alpha, totals = forward(own, near)
        chain = Chain(own, near, alpha, totals, backward(own, near, totals))
        found.append(np.exp(np.minimum([segment_chance(chain, rules, *each) for each in wanted], 0.0)).tolist())
    return found


class Chain(NamedTuple):
    """The recursions of one sequence."""

    scores: Floats
    steps: Steps
    alpha: list[Floats]
    totals: Floats
    beta: list[Floats]


def segment_chance(chain: Chain, rules: SegmentRules, kind: int, first: int, last: int) -> float:
    """Compute the log of the probability of a segment."""
    scores, steps, alpha, totals, beta = chain
    before, own = labels_of_states(steps), rules.kind == kind
    begins = rules.begins[before]  # [states, labels]
    goes_on = own & ~begins
    if first == 0:
        ahead = np.where(own[before], alpha[0], -np.inf)
    else:
        terms = np.where(begins & own, alpha[first - 1][:, None] + steps.scores, -np.inf)
        ahead = steps.lead_on(terms, scores[first] - totals[first])
    for t in range(first + 1, last):
        terms = np.where(goes_on, ahead[:, None] + steps.scores, -np.inf)
        ahead = steps.lead_on(terms, scores[t] - totals[t])
    if last == len(scores):
        return float(log_sums(ahead))
    behind = ahead[:, None] + steps.scores + (scores[last] - totals[last]) + steps.ahead(beta[last])
    return float(log_sums(np.where(goes_on, -np.inf, behind).reshape(-1)))
