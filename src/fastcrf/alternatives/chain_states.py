"""`Chain`: the states of a chain of any order, and the steps that lead to each of them.

The states of a chain of order 1 are its labels, those of others known label contexts (label_contexts.py). A label
sequence is in one state at each position, so different paths through states are different label sequences. One more
state is the end: every state leads to it, with a score of 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.feature_space.label_contexts import known_contexts, make_tree, with_shorter
from fastcrf.feature_space.transitions import transition_matrix


class Chain(NamedTuple):
    """Steps by the state that they lead to; the last state is the end."""

    starts: Longs  # [S + 2] first step to each state
    before: Longs  # [E] state that a step comes from, ascending for each state
    steps: Floats  # [E] score; -inf if it is not allowed
    last: Longs  # [S + 1] nearest label of each state; 0 for the end

    @property
    def n_states(self) -> int:
        return len(self.last) - 1


def make_chain(features: FeatureMap, weights: Floats, allowed: Allowed | None) -> Chain:
    """Return the states of a model, with the steps that are allowed."""
    K, scores = features.n_labels, transition_matrix(features, weights)
    if features.order == 1:
        last, following = np.arange(K), np.tile(np.arange(K), (K, 1))
    else:
        tree = make_tree(known_contexts(features), K)
        last, following, scores = tree.last, tree.following, with_shorter(scores, tree)
    if allowed is not None:
        scores[~allowed.transitions[last]] = -np.inf
    states, targets = np.arange(len(last)), following.reshape(-1)
    by_target = np.argsort(targets, kind="stable")
    counts = np.bincount(targets, minlength=len(last))
    return Chain(
        starts=np.concatenate(([0], np.cumsum(np.append(counts, len(last))))),
        before=np.concatenate((by_target // K, states)),
        steps=np.concatenate((scores.reshape(-1)[by_target], np.zeros(len(last)))),
        last=np.append(last, 0),
    )


def mask_of(allowed: Allowed | None, n_labels: int) -> NDArray[np.bool_]:
    """Return the labels that each position may have, [P, K], or [0, K] if it may have all."""
    return np.empty((0, n_labels), bool) if allowed is None else allowed.mask()
