"""Iterative scaling and its acceleration, by enumeration of all labelings and bisection, written from the papers."""

from __future__ import annotations

import numpy as np

from reference.enumerated_loss import EnumeratedLoss


def bisect(rising, low=-1e6, high=1e6):
    """Where a rising function crosses 0."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore"):
            low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return 0.5 * (low + high)


class PlainScaling:
    """Expected and observed counts, sums, and the two maps. c2 |w|^2 = |w|^2 / (2 sigma^2)."""

    def __init__(self, corpus, features, c2):
        self.loss, self.c2 = EnumeratedLoss(corpus, features), c2
        self.n = corpus.n_sequences
        self.observed = sum(self.loss.weights[i] * self.loss.gold[i] for i in range(self.n))
        self.sums = [self.loss.counts[i].sum(axis=1).max() for i in range(self.n)]

    def expected(self, i, w):
        return self.loss.weights[i] * self.loss.probabilities(i, w) @ self.loss.counts[i]

    def value(self, w):
        return sum(self.loss.value(i, w) for i in range(self.n)) + self.c2 * (w @ w)

    def gis(self, w):
        """Darroch & Ratcliff; penalized: Chen & Rosenfeld."""
        return self._scaled(w, [max(self.sums)] * self.n)

    def iis(self, w):
        """Lafferty, McCallum & Pereira, Algorithm T."""
        return self._scaled(w, self.sums)

    def _scaled(self, w, sums):
        expected, moved = np.array([self.expected(i, w) for i in range(self.n)]), w.copy()
        for f in range(len(w)):
            column = expected[:, f]
            if self.c2 == 0.0 and self.observed[f] == 0.0:
                moved[f] -= np.log(1e8) / np.array(sums)[column > 0].max() if column.sum() > 0 else 0.0
                continue

            def excess(d, f=f, column=column):
                grown = column[column > 0] @ np.exp(np.array(sums)[column > 0] * d)
                return grown + 2 * self.c2 * (w[f] + d) - self.observed[f]

            moved[f] += bisect(excess)
        return moved

    def paper_step(self, w):
        """yang2012, eq. 3.9, NaN where it is undefined."""
        expected = sum(self.expected(i, w) for i in range(self.n))
        with np.errstate(invalid="ignore", divide="ignore"):
            return w + np.log(self.observed / (expected + 2 * self.c2 * w)) / max(self.sums)


def staggered_aitken(mapping, value, w, n_cycles, gamma):
    """yang2012, section 4: two plain steps, then eq. 4.6 with an estimate of eq. 4.8-4.10. Yields w', then where it
    goes from there. gamma: the estimate, a function of (D_t, D_t-1)."""
    for _ in range(n_cycles):
        first = mapping(w)
        yield first
        second = mapping(first)
        further, before = second - first, first - w
        accelerated = first + further / (1 - gamma(further, before))
        w = accelerated if value(accelerated) <= value(first) else second
        yield w


def aitken(mapping, value, w, n_steps, gamma):
    """Hesterberg (2005), not staggered: every step is accelerated, its ratio estimated from the last two points.
    Yields each point."""
    before, w = w, mapping(w)
    yield w
    for _ in range(n_steps - 1):
        image = mapping(w)
        move, further = w - before, image - mapping(before)
        accelerated = w + (image - w) / (1 - gamma(further, move)) if further @ move > 0 else image
        before, w = w, accelerated if value(accelerated) <= value(w) else image
        yield w


def haemmerlin_hoffmann(further, before):
    """r = 2 / (2 - largest - smallest eigenvalue) as 1 / (1 - gamma), with the third and the first estimate."""
    largest, smallest = further @ further / (further @ before), further @ before / (before @ before)
    return min(1 - (2 - largest - smallest) / 2, 0.9999)


def gamma_1(further, before):
    return min(further @ before / (before @ before), 0.9999)


def gamma_2(further, before):
    return min(np.linalg.norm(further) / np.linalg.norm(before), 0.9999)


def gamma_3(further, before):
    return min(further @ further / (further @ before), 0.9999)


def gamma_of_each(further, before):
    """CTJPIS: eq. 4.7, within +-0.9."""
    ratio = np.array([d / b if b != 0 else 0.0 for d, b in zip(further, before, strict=True)])
    return np.clip(ratio, -0.9, 0.9)


def anderson(mapping, value, w, n_steps, pairs):
    """Walker & Ni (2011), with the test that refuses what rises. Yields each point."""
    points, before = [w], mapping(w)
    w = before
    for _ in range(n_steps):
        yield w
        points = [*points, w][-pairs - 1 :]
        images = np.array([mapping(p) for p in points])
        steps = images - np.array(points)
        shares = np.linalg.lstsq(np.diff(steps, axis=0).T, steps[-1], rcond=1e-10)[0]
        proposed = images[-1] - shares @ np.diff(images, axis=0)
        if value(proposed) <= value(w):
            w = proposed
        else:
            points, w = [w], images[-1]
