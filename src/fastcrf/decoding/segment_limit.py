"""The best label sequence with at most so many segments of a type, exactly.

Viterbi whose states also count the segments of some types. At first no type is counted. If the best label sequence has
too many segments of a type, that type is counted from then on. Each round leaves more label sequences out, all of them
wrong, so the first that breaks no limit is the best of all. There are as many states as products of (limit + 1), which
is 2 to the power of the types that repeat where each may occur once. Beyond MOST numbers, ConstraintError says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import Floats, Ints, Longs
from fastcrf.decoding.plain_decoder import Steps, labels_of_states
from fastcrf.decoding.segments import SegmentRules
from fastcrf.inference.score_range import IMPOSSIBLE

MOST = 1 << 24  # numbers in the work arrays: 128 MB
UNLIMITED = -1


class TooManyTypes(ValueError):
    """Raise where too many types repeat to count them all."""


class NoneWithin(ValueError):
    """Raise where every label sequence breaks a limit."""


class Moves(NamedTuple):
    """Steps between states with counts, sorted by the state that they lead to."""

    states: Longs  # [M] state before
    labels: Longs  # [M]
    starts: Longs  # [S] first move that leads to each state
    sources: Longs  # [C, M] place of (count, state) before in a flat array, or the one behind it if there is none
    first: Longs  # [K] count after a first label, or -1 if it is too many


def best_within(scores: Floats, steps: Steps, rules: SegmentRules, limits: Longs) -> list[int]:
    """Return the best labels of one scored sequence; `limits` [types] are UNLIMITED or the most segments."""
    counted: list[int] = []
    while True:
        labels = best_counted(scores, steps, counting(steps, rules, limits, counted, len(scores)))
        many = np.flatnonzero((limits != UNLIMITED) & (segments_of(labels, rules, len(limits)) > limits))
        if not len(many):
            return labels
        counted += many.tolist()


def segments_of(labels: Sequence[int] | Ints, rules: SegmentRules, n_types: int) -> Longs:
    """Return the number of segments of each type."""
    path = np.asarray(labels)
    begins = rules.kind[path] >= 0
    begins[1:] = rules.begins[path[:-1], path[1:]]
    return np.bincount(rules.kind[path[begins]], minlength=n_types)


def counting(steps: Steps, rules: SegmentRules, limits: Longs, counted: Sequence[int], length: int) -> Moves:
    """Return the steps between states that count some types; a count is a number with a digit for each type."""
    S, K = steps.scores.shape
    sizes = limits[list(counted)] + 1
    C = int(np.prod(sizes.astype(np.float64), initial=1.0))
    if C * S * (K + length) > MOST:
        raise TooManyTypes(f"{len(counted)} types of segments repeat, which takes {C:,} times as many states")
    units = np.concatenate(([1], np.cumprod(sizes)))[: len(counted)].astype(np.int64)
    number = np.full(len(limits), -1)
    number[list(counted)] = np.arange(len(counted))
    places = np.arange(S)[:, None] * K + np.arange(K)
    to = np.tile(np.arange(K), (S, 1)) if steps.tree is None else steps.tree.following
    order = np.argsort(to.reshape(-1), kind="stable")
    states, labels = places.reshape(-1)[order] // K, places.reshape(-1)[order] % K
    reached = to.reshape(-1)[order]
    kinds = np.where(rules.kind >= 0, number[rules.kind], -1)  # of each label, the place among counted types or -1
    counts = np.arange(C)[:, None]
    which = np.where(rules.begins[labels_of_states(steps)[states], labels], kinds[labels], -1)
    sources = counts * S + states
    for r, (unit, size) in enumerate(zip(units.tolist(), sizes.tolist(), strict=True)):
        digit = counts // unit % size
        sources = np.where(which == r, np.where(digit > 0, sources - unit * S, C * S), sources)
    first = np.array([units[r] if sizes[r] > 1 else -1 for r in range(len(counted))] + [0])[kinds]
    return Moves(states, labels, np.searchsorted(reached, np.arange(S)), sources, first)


def best_counted(scores: Floats, steps: Steps, moves: Moves) -> list[int]:
    """Return the best labels of one sequence by Viterbi over states with counts."""
    C, S = len(moves.sources), len(steps.scores)
    last, step = labels_of_states(steps), steps.scores[moves.states, moves.labels]
    best = np.full((len(scores), C * S + 1), -np.inf)  # the last column is for impossible moves
    ends = np.append(moves.starts[1:], len(moves.states))
    reached, found = np.flatnonzero(ends > moves.starts), np.full((C, S), -np.inf)
    possible = np.flatnonzero(moves.first >= 0)
    best[0, moves.first[possible] * S + possible] = scores[0, possible]
    for t in range(1, len(scores)):
        found[:, reached] = np.maximum.reduceat(best[t - 1][moves.sources] + step, moves.starts[reached], axis=1)
        best[t, :-1] = (found - max(found.max(), IMPOSSIBLE) + scores[t, last]).reshape(-1)
    place = int(best[-1].argmax())
    if best[-1, place] < IMPOSSIBLE:
        raise NoneWithin
    labels = [int(last[place % S])]
    for t in range(len(scores) - 1, 0, -1):
        count, state = divmod(place, S)
        leading = slice(moves.starts[state], ends[state])
        sources = moves.sources[count, leading]
        place = int(sources[(best[t - 1][sources] + step[leading]).argmax()])
        labels.append(int(last[place % S]))
    return labels[::-1]
