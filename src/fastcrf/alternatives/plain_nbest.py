"""The n best label sequences in NumPy: what nbest.py does, and in the same order, without the compiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fastcrf.alternatives.chain_states import Chain
from fastcrf.core.types import Floats, Ints
from fastcrf.inference.score_range import DENSE


@dataclass(eq=False)
class Prefix:
    """A label sequence from the start to a position."""

    score: float
    state: int
    parent: Any  # the prefix without its last label; None before the first label
    worse: Prefix | None = None  # the next worse one
    is_worst: bool = False  # whether there is none


@dataclass
class Node:
    """A state at a position: for each step to it, the best prefix that it has not used yet."""

    unused: list[Prefix | None]
    reached: Floats  # their scores with the step; -inf for None


@dataclass(eq=False)
class Lattice:
    """The prefixes of one scored sequence, as far as they are known."""

    scores: Floats  # [T, K]; -inf where a label is not allowed
    chain: Chain
    best: list[list[Prefix]] = field(default_factory=list)  # by position and state; the last one is the end
    tops: list[float] = field(default_factory=list)
    nodes: dict[tuple[int, int], Node] = field(default_factory=dict)

    def find_best(self) -> Prefix | None:
        """Return the best label sequence, if there is one."""
        chain, last = self.chain, self.chain.last
        S, K = chain.n_states, self.scores.shape[1]
        for t, row in enumerate(self.scores):
            if t == 0:
                found = [Prefix(float(row[h]) if h < K else -np.inf, h, None) for h in range(S)]
                top = 0.0
            else:
                found = [self.reach(t, h) for h in range(S)]
                top = max(prefix.score for prefix in found)
                top = top if DENSE < abs(top) < np.inf else 0.0
                for prefix in found:
                    prefix.score = (prefix.score - top) + float(row[last[prefix.state]])
            self.best.append(found)
            self.tops.append(top)
        end = self.reach(len(self.scores), S) if len(self.scores) else Prefix(0.0, S, None)
        return end if end.score > -np.inf else None

    def reach(self, t: int, h: int) -> Prefix:
        """Return the best prefix of a state, before the score of its label."""
        before, steps = self.steps_to(h)
        reached = np.array([self.best[t - 1][j].score for j in before]) + steps
        place = self.best_place([self.best[t - 1][j] for j in before], reached)
        return (
            Prefix(-np.inf, h, None) if place < 0 else Prefix(float(reached[place]), h, self.best[t - 1][before[place]])
        )

    def steps_to(self, h: int) -> tuple[list[int], Floats]:
        held = slice(self.chain.starts[h], self.chain.starts[h + 1])
        return self.chain.before[held].tolist(), self.chain.steps[held]

    def best_place(self, prefixes: list[Prefix | None], reached: Floats) -> int:
        """Return the place of the best prefix, of equals the lowest; -1 if there is none."""
        top = reached.max(initial=-np.inf)
        if top == -np.inf:
            return -1
        place, *others = np.flatnonzero(reached == top).tolist()
        for other in others:
            if self.is_lower(prefixes[other], prefixes[place]):
                place = other
        return int(place)

    def is_lower(self, one: Any, other: Any) -> bool:
        """Return whether the prefix of one state has the lower label where it last differs from that of another."""
        last = self.chain.last
        while last[one.state] == last[other.state]:
            one, other = one.parent, other.parent
        return bool(last[one.state] < last[other.state])

    def find_next(self, end: Prefix) -> Prefix | None:
        """Return the next worse label sequence after the worst one that is known, if there is one."""
        path = [end]
        while path[-1].parent is not None and path[-1].worse is None and not path[-1].is_worst:
            path.append(path[-1].parent)
        if path[-1].parent is None:
            path[-1].is_worst = True
        for t, prefix in enumerate(reversed(path[:-1]), len(self.scores) + 2 - len(path)):
            prefix.worse = self.extend(prefix, t)
            prefix.is_worst = prefix.worse is None
        return end.worse

    def extend(self, prefix: Prefix, t: int) -> Prefix | None:
        """Return the next worse prefix after the worst known one of its state at position t."""
        before, steps = self.steps_to(prefix.state)
        node = self.nodes.get((t, prefix.state))
        if node is None:
            unused: list[Prefix | None] = [self.best[t - 1][j] for j in before]
            node = Node(unused, np.array([self.best[t - 1][j].score for j in before]) + steps)
            self.nodes[t, prefix.state] = node
        place, worse = node.unused.index(prefix.parent), prefix.parent.worse
        node.unused[place], node.reached[place] = worse, -np.inf if worse is None else worse.score + steps[place]
        place = self.best_place(node.unused, node.reached)
        if place < 0:
            return None
        score = float(node.reached[place])
        if t < len(self.scores):
            score = (score - self.tops[t]) + float(self.scores[t, self.chain.last[prefix.state]])
        return Prefix(score, prefix.state, node.unused[place])


def best_of_sequence(scores: Floats, chain: Chain, n: int) -> tuple[list[Ints], list[float]]:
    """Return the n best label sequences of a scored sequence and their scores, or all if there are fewer."""
    lattice, labels, totals = Lattice(scores, chain), [], []
    end = lattice.find_best()
    while end is not None:
        labels.append(labels_of(end, chain, len(scores)))
        totals.append(end.score + sum(lattice.tops))
        end = lattice.find_next(end) if len(labels) < n else None
    return labels, totals


def labels_of(end: Prefix, chain: Chain, length: int) -> Ints:
    """Return the labels of a prefix of the end."""
    labels, prefix = np.empty(length, np.int32), end.parent
    for t in range(length - 1, -1, -1):
        labels[t], prefix = chain.last[prefix.state], prefix.parent
    return labels
