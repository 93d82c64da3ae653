"""Samples, pair probabilities and entropies of one scored sequence in NumPy: what posterior.py does, with logs.

Each function returns None where no label sequence is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastcrf.alternatives.chain_states import Chain
from fastcrf.core.types import Floats, Ints, Longs


@np.errstate(divide="ignore", invalid="ignore")
def run_filter(scores: Floats, chain: Chain) -> tuple[Floats, list[Floats]] | None:
    """Return log p(last state) and, for each position, the chance of each step, given the state that it leads to.

    The steps to the end are the last ones of each position.
    """
    S, chances = chain.n_states, []
    logs, reached = np.full(S, -np.inf), np.full(S + 1, -np.inf)
    targets, none_leads_to = targets_of(chain), np.diff(chain.starts) == 0
    for t, row in enumerate(scores - scores.max(axis=1, keepdims=True)):
        if t == 0:
            logs[: len(row)] = row
        else:
            logs = reached[:S] + row[chain.last[:S]]
        logs = logs - np.logaddexp.reduce(logs)
        if not np.isfinite(logs).any():
            return None
        terms = logs[chain.before] + chain.steps
        reached = np.logaddexp.reduceat(terms, chain.starts[:-1])
        reached[none_leads_to] = -np.inf
        chances.append(np.nan_to_num(np.exp(terms - reached[targets])))
    return logs, chances


def targets_of(chain: Chain) -> Longs:
    """Return the state that each step leads to."""
    return np.repeat(np.arange(chain.n_states + 1), np.diff(chain.starts))


def sample(scores: Floats, chain: Chain, uniform: Floats) -> Ints | None:
    """Sample label sequences, [n, T], by uniform numbers [T, n]."""
    filtered, states = run_filter(scores, chain), np.full(uniform.shape[1], chain.n_states)
    if filtered is None:
        return None
    labels = np.empty(uniform.T.shape, np.int32)
    for t in range(len(scores) - 1, -1, -1):
        before = states.copy()
        for h in np.unique(states).tolist():
            held, steps = states == h, slice(chain.starts[h], chain.starts[h + 1])
            sums = np.cumsum(filtered[1][t][steps])
            places = np.searchsorted(sums, uniform[t, held], "right")
            before[held] = chain.before[steps][np.minimum(places, np.searchsorted(sums, sums[-1]))]
        states = before
        labels[:, t] = chain.last[states]
    return labels


def steps_back(logs: Floats, chances: list[Floats], chain: Chain) -> Iterator[tuple[int, Floats]]:
    """Yield each position but the first, the last one first, with the probability of each step to it."""
    targets, states = targets_of(chain), np.append(np.exp(logs), 0.0)
    for t in range(len(chances) - 1, 0, -1):
        joint = states[targets] * chances[t - 1]
        yield t, joint
        states = np.bincount(chain.before, joint, len(states))


def pairs(scores: Floats, chain: Chain) -> Floats | None:
    """Compute p(y_t = j, y_{t+1} = k | x), [T, K, K], 0 at the last position."""
    filtered, K = run_filter(scores, chain), scores.shape[1]
    if filtered is None:
        return None
    found, places = np.zeros((*scores.shape, K)), chain.last[chain.before] * K + chain.last[targets_of(chain)]
    for t, joint in steps_back(*filtered, chain):
        found[t - 1] = np.bincount(places, joint, K * K).reshape(K, K)
    return found


@np.errstate(divide="ignore", invalid="ignore")
def entropy(scores: Floats, chain: Chain) -> float | None:
    """Compute the entropy of p(y | x)."""
    filtered = run_filter(scores, chain)
    if filtered is None:
        return None
    logs, chances = filtered
    total = -float(np.nansum(np.exp(logs) * logs))
    for t, joint in steps_back(logs, chances, chain):
        total -= float(np.nansum(joint * np.log(chances[t - 1])))
    return total
