"""SVRG and EMGD with dense vectors and stored gradients, written from the papers.

They are johnson2013 with the sampling of xiao2014, and zhang2013, Algorithm 1. Sequences, `blocks` of them and draws
are those of dense_sag.py.
"""

from __future__ import annotations

import numpy as np

from reference.dense_sag import OwnConstants, SequenceLoss, line_search


def snapshots(loss, w, uniforms, draws):
    """Periods of `draws(w, the g_i, d, period's uniforms) -> (w, evaluations)`. Yields (w~, d, evaluations so far)."""
    evaluations = 0
    for period in uniforms:
        table = np.array([size * loss.gradient(i, w) for i, size in enumerate(loss.sizes)])
        evaluations += loss.sizes.sum()
        yield w, table.sum(axis=0), evaluations
        w, more = draws(w, table, table.sum(axis=0), period)
        evaluations += more


def svrg(corpus, features, lam, uniforms, first_lipschitz=1.0, blocks=None):
    """Johnson & Zhang (2013), a period for each array of uniforms. Yields (w, d, evaluations so far) at each w~."""
    loss = SequenceLoss(corpus, features, blocks)
    n, total, L, first = loss.n, loss.sizes.sum(), first_lipschitz, True

    def draws(w, table, d, period):
        nonlocal L, first
        evaluations = 0
        for u in period:
            i = int(u * n)
            f, g = loss.value(i, w), loss.gradient(i, w)
            evaluations += loss.sizes[i]
            if g @ g > 1e-8:
                L, trials = line_search(loss, i, w, f, g, L, first)
                evaluations += loss.sizes[i] * trials
            first = False
            alpha = 1 / (L + lam)
            w = (1 - alpha * lam) * w - alpha * ((loss.sizes[i] * g - table[i]) * n / total + d / total)
            L *= 2 ** (-1 / n) if g @ g > 1e-8 else 1
        return w, evaluations

    return snapshots(loss, np.zeros(features.n_weights), uniforms, draws)


def svrg_nus(corpus, features, lam, uniforms, first_lipschitz=1.0):
    """Xiao & Zhang (2014), section 3, with searched L_i, half of the draws by them. Yields as `svrg` does."""
    loss = SequenceLoss(corpus, features)
    n, own = loss.n, OwnConstants(loss, first_lipschitz)

    def draws(w, table, d, period):
        evaluations = 0
        for u in period:
            i, p = own.draw(u)
            f, g = loss.value(i, w), loss.gradient(i, w)
            evaluations += 1 + own.visit(i, w, f, g)
            alpha = own.step_size(lam)
            w = (1 - alpha * lam) * w - alpha * ((g - table[i]) / (n * p) + d / n)
        return w, evaluations

    return snapshots(loss, np.zeros(features.n_weights), uniforms, draws)


def emgd(corpus, features, lam, uniforms, lipschitz=None, project=True, first_radius=None):
    """Zhang, Mahdavi & Jin (2013), Algorithm 1, with this `lipschitz` constant of all losses; where there is none, it
    is searched, the step is sqrt(T) times as long, and each ball is the smallest known to hold the optimum.

    Yields (w, d, evaluations so far, Delta) at each w~.
    """
    loss = SequenceLoss(corpus, features)
    n, known, L, first, radius = loss.n, lipschitz is not None, lipschitz or 1.0, True, None

    def draws(centre, table, d, period):
        nonlocal L, first
        z, zs, evaluations = np.zeros_like(centre), [np.zeros_like(centre)], 0
        for u in period:
            i = int(u * n)
            w = centre + z
            g = loss.gradient(i, w)
            evaluations += 1
            if not known and g @ g > 1e-8:
                L, trials = line_search(loss, i, w, loss.value(i, w), g, L, first)
                evaluations += trials
            first = False
            eta = 1 / (L + lam) / (np.sqrt(len(period)) if known else 1)
            z = z - eta * (g - table[i] + lam * z + d / n + lam * centre)
            z = z * min(1.0, radius / max(np.linalg.norm(z), 1e-300))
            zs.append(z)
            L *= 2 ** (-1 / n) if not known and g @ g > 1e-8 else 1
        return centre + np.mean(zs, axis=0), evaluations

    for w, d, evaluations in snapshots(loss, np.zeros(features.n_weights), uniforms, draws):
        if not project or lam == 0.0:
            radius = np.inf
        elif known and radius is not None:
            radius /= np.sqrt(2)
        elif radius is None and first_radius is not None:
            radius = first_radius
        else:
            radius = np.linalg.norm(d / n + lam * w) / lam
        yield w, d, evaluations, radius
