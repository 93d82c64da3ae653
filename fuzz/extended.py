"""Inference in the log domain with more digits than the kernels have: the judge of their numbers.

Nothing is shared with the kernels: no layout, no exponentials of whole rows, no scaling. Two judges: NumPy's longdouble
(64 bits of mantissa on x86) for long chains, mpmath (as many digits as wanted) for short ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Extended = np.longdouble
LEAST = Extended(-11_000)  # what is below counts as this: 1e-4777, as good as 0, and exp is slow where it underflows


class Answers(NamedTuple):
    log_z: Any
    nodes: np.ndarray  # [T, K] p(y_t = k)
    edges: np.ndarray  # [K, K] expected number of label bigrams
    best: Any  # the score of the best path


def by_longdouble(scores: np.ndarray, transitions: np.ndarray) -> Answers:
    """The answers of one chain with label scores [T, K] and transition scores [K, K]. All messages are logarithms."""
    U, V = scores.astype(Extended), transitions.astype(Extended)
    onwards, back = Terms(V.T), Terms(V)
    ahead, log_z, best = [U[0] - U[0].max()], U[0].max(), U[0]
    for row in U[1:]:
        terms, top = onwards(ahead[-1])
        reached = np.log(terms.sum(axis=1)) + top + row
        ahead.append(reached - reached.max())
        log_z += reached.max()
        best = (best + V.T).max(axis=1) + row
    behind = np.zeros(len(V), Extended)
    nodes, edges = np.empty(U.shape, Extended), np.zeros(V.shape, Extended)
    nodes[-1], total = shares(ahead[-1])
    log_z += ahead[-1].max() + np.log(total)
    for t in range(len(U) - 1, 0, -1):
        terms, top = back(U[t] + behind)
        totals = terms.sum(axis=1)
        behind = np.log(totals) + top
        behind -= behind.max()
        nodes[t - 1], _ = shares(ahead[t - 1] + behind)
        edges += (nodes[t - 1] / totals)[:, None] * terms  # p(j) p(k | j)
    return Answers(log_z, nodes, edges, best.max())


class Terms:
    """exp(M_jk + x_k - top_j) and top, for any x and the same M.

    exp takes fifty times as long as a product, so that of M is taken once, where no product can underflow.
    """

    def __init__(self, M: np.ndarray) -> None:
        self.M, self.top, self.width = M, M.max(), M.max() - M.min()
        self.raised = exp(M - M.max())

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, Any]:
        if self.width + x.max() - x.min() < -LEAST:
            return self.raised * exp(x - x.max()), self.top + x.max()
        exponents = self.M + x
        top = exponents.max(axis=1)
        return exp(exponents - top[:, None]), top


def shares(x: np.ndarray) -> tuple[np.ndarray, Any]:
    """exp(x), normalized, and the sum of exp(x - max x)."""
    raised = exp(x - x.max())
    return raised / raised.sum(), raised.sum()


def exp(x: np.ndarray) -> np.ndarray:
    return np.exp(np.maximum(x, LEAST))


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
