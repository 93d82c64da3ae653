"""Constrained chains by enumeration: of all label sequences, those that are allowed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reference import brute_force


def allowed_paths(allowed, first, last):
    """Every label sequence of positions first..last-1 that `allowed` allows."""
    own = allowed.mask()[first:last]
    return [
        path
        for path in brute_force.all_paths(*own.shape)
        if all(own[t, k] for t, k in enumerate(path)) and all(allowed.transitions[j, k] for j, k in pairwise(path))
    ]


def distribution(scores, transitions, paths):
    """({path: probability} among these paths, log Z); nothing and -inf without any."""
    totals = np.array([brute_force.path_score(scores, transitions, path) for path in paths])
    if not len(paths):
        return {}, -np.inf
    log_z = totals.max() + np.log(np.exp(totals - totals.max()).sum())
    return dict(zip(paths, np.exp(totals - log_z), strict=True)), log_z


def marginals(chances, shape):
    nodes = np.zeros(shape)
    for path, chance in chances.items():
        nodes[np.arange(len(path)), list(path)] += chance
    return nodes
