"""SGD-QN, number by number, from the pseudo-code of Bordes, Bottou & Gallinari (2009): B starts at 1 / lambda."""

from __future__ import annotations


def sgd_qn(loss, w, order, t0, lam, skip):
    """Yield (w, B, gradients taken) after each update."""
    count, r, update_b = skip, 2, False
    w, B, taken = list(w), [1 / lam] * len(w), 0
    for t, i in enumerate(order):
        before, g = list(w), loss.gradient(i, w)
        taken += 1
        w = [w[j] - B[j] * g[j] / (t + t0) for j in range(len(w))]
        if update_b:
            after = loss.gradient(i, w)
            taken += 1
            for j in range(len(w)):
                moved = w[j] - before[j]
                p = after[j] + lam * w[j] - g[j] - lam * before[j]
                ratio = moved / p if moved != 0 else 1 / lam
                B[j] = min(max(B[j] + 2 / r * (ratio - B[j]), 0.01 / lam), 100 / lam)
            r, update_b = r + 2, False
        count -= 1
        if count <= 0:
            count, update_b = skip, True
            w = [w[j] - skip * lam * B[j] * w[j] / (t + t0) for j in range(len(w))]
        yield w, list(B), taken
