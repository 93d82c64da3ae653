"""Inference in the log domain with more digits than the kernels have: the judge of their numbers.

Nothing is shared with the kernels: no layout, no exponentials of whole rows, no scaling. Two judges: NumPy's longdouble
(64 bits of mantissa on x86) for long chains, mpmath (as many digits as wanted) for short ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Extended = np.longdouble


class Answers(NamedTuple):
    log_z: Any
    nodes: np.ndarray  # [T, K] p(y_t = k)
    edges: np.ndarray  # [K, K] expected number of label bigrams
    best: Any  # the score of the best path


def by_longdouble(scores: np.ndarray, transitions: np.ndarray) -> Answers:
    """The answers of one chain with label scores [T, K] and transition scores [K, K]."""
    U, V = scores.astype(Extended), transitions.astype(Extended)
    ahead, log_z = [U[0] - U[0].max()], U[0].max()
    best = U[0]
    for row in U[1:]:
        reached = log_sum_and_shares(ahead[-1] + V.T, 1)[0] + row
        ahead.append(reached - reached.max())
        log_z += reached.max()
        best = (best + V.T).max(axis=1) + row
    behind = np.zeros(len(V), Extended)
    nodes, edges = np.empty(U.shape, Extended), np.zeros(V.shape, Extended)
    rest, nodes[-1] = log_sum_and_shares(ahead[-1], 0)
    for t in range(len(U) - 1, 0, -1):
        behind, given = log_sum_and_shares(V + (U[t] + behind), 1)
        behind -= behind.max()
        nodes[t - 1] = log_sum_and_shares(ahead[t - 1] + behind, 0)[1]
        edges += nodes[t - 1][:, None] * given  # p(j) p(k | j)
    return Answers(log_z + rest, nodes, edges, best.max())


def log_sum_and_shares(x: np.ndarray, axis: int) -> tuple[Any, np.ndarray]:
    """log sum exp(x), and exp(x) / sum exp(x). Shares that would be 0 are 1e-4777: exp is slow where it underflows."""
    top = x.max(axis=axis, keepdims=True)
    raised = np.exp(np.maximum(x - top, Extended(-11_000)))
    total = raised.sum(axis=axis, keepdims=True)
    return (top + np.log(total)).squeeze(axis), raised / total


def by_mpmath(scores: np.ndarray, transitions: np.ndarray, digits: int = 60) -> Answers:
    """The same, from the definition: plain sums of plain exponentials, which mpmath can hold however large they are."""
    import mpmath

    with mpmath.workdps(digits):
        T, K = scores.shape
        U = [[mpmath.exp(mpmath.mpf(float(s))) for s in row] for row in scores]
        V = [[mpmath.exp(mpmath.mpf(float(s))) for s in row] for row in transitions]
        ahead = [U[0]]
        for t in range(1, T):
            ahead.append([U[t][k] * mpmath.fsum(ahead[-1][j] * V[j][k] for j in range(K)) for k in range(K)])
        z = mpmath.fsum(ahead[-1])
        behind = [mpmath.mpf(1)] * K
        nodes, edges = np.empty((T, K), object), np.full((K, K), mpmath.mpf(0), object)
        for t in range(T - 1, -1, -1):
            nodes[t] = [ahead[t][k] * behind[k] / z for k in range(K)]
            if t:
                for j in range(K):
                    for k in range(K):
                        edges[j, k] += ahead[t - 1][j] * V[j][k] * U[t][k] * behind[k] / z
                behind = [mpmath.fsum(V[j][k] * U[t][k] * behind[k] for k in range(K)) for j in range(K)]
        best = by_longdouble(scores, transitions).best
        return Answers(mpmath.log(z), nodes, edges, best)
