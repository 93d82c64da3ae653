"""cao2015's updates with dense vectors, from the equations of sections 3.2 to 3.5 and Figure 2; by enumeration."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad

from reference import brute_force

G1 = {"slope": lambda u, c: math.atan(u / math.sqrt(c["epsilon"])), "curve": lambda u, c: 1 / (u * u + c["epsilon"])}
G2 = {
    "slope": lambda u, c: math.erf(c["alpha"] * u),
    "curve": lambda u, c: 2 * c["alpha"] / math.sqrt(math.pi) * math.exp(-((c["alpha"] * u) ** 2)),
}
G3 = {
    "slope": lambda u, c: 2 * math.atan(math.exp(c["beta"] * u)) - math.pi / 2,
    "curve": lambda u, c: c["beta"] / math.cosh(c["beta"] * u),
}
P = {
    "slope": lambda u, c: np.sign(u) * abs(u) ** (c["p"] - 1),
    "curve": lambda u, c: (c["p"] - 1) * abs(u) ** (c["p"] - 2) if u else 0.0,
}
FUNCTIONS = {"g1": G1, "g2": G2, "g3": G3, "p": P}
CONSTANTS = {"epsilon": 0.1, "alpha": 5 * math.sqrt(math.pi), "beta": 10.0, "p": 2.0}


def nearest(u, points):
    """The nearest of so many points from 0 to 1, and their opposites; u itself beyond them, or without points."""
    return round(u * points) / points if points and abs(u) <= 1 else u


def direction(update, expected, observed, constants):
    kind, name = update.split(".")
    if kind.startswith("b"):
        return natural_gradient(kind, name, expected, observed, constants)
    points = constants.get("points", 0)
    slope = lambda u: FUNCTIONS[name]["slope"](nearest(u, points), constants)  # noqa: E731
    curve = lambda u: FUNCTIONS[name]["curve"](nearest(u, points), constants)  # noqa: E731
    return {
        "u1": lambda E, o: curve(o - E) * (E - o),
        "u2": lambda E, o: slope(0.0) - slope(o - E),
        "u3": lambda E, o: curve(E - o) * (E - o),
        "u4": lambda E, o: curve(E) * (E - o),
        "u5": lambda E, o: slope(E - o) - slope(0.0),
        "u6": lambda E, o: slope(E) - slope(o),
    }[kind](expected, observed)


def natural_gradient(loss, name, expected, observed, constants, step=1e-5):
    """The derivative in E of B_G(P, Q), section 3.1 and footnote 1, by central differences; G is the integral of G'."""
    slope, c = FUNCTIONS[name]["slope"], constants.get("gamma", 1.0)
    factor = 1 / math.sqrt(constants["epsilon"]) if name == "g1" else 1.0  # which the updates leave to the step size
    g = lambda u, constants: factor * slope(u, constants)  # noqa: E731

    def B(E):
        o, rho = observed, 1 - c
        a, b, c2, d = constants.get("coefficients", (1.0, 0.0, 0.0, -1.0))
        P, Q = {"b1": (c * E, o - rho * E), "b2": (o - rho * E, c * E), "b3": (rho * o, E - c * o),
                "b4": (E - c * o, rho * o), "b": (a * E - b * o, c2 * E - d * o)}[loss]  # fmt: skip
        area = quad(lambda u: g(u, constants), Q, P, epsabs=1e-13, epsrel=1e-13, points=[0.0] if P * Q < 0 else None)
        return area[0] - g(Q, constants) * (P - Q)

    return (B(expected + step) - B(expected - step)) / (2 * step)


def by_sequence(loss, corpus, features, i, w, update, constants):
    """psi of the sums over the sequence; loss is an EnumeratedLoss."""
    expected, observed = loss.probabilities(i, w) @ loss.counts[i], loss.gold[i]
    pairs = zip(expected, observed, strict=True)
    return np.array([direction(update, E, o, constants) for E, o in pairs])


def by_position(loss, corpus, features, i, w, update, constants):
    """psi of each label at each position, then summed; transitions as sums over the sequence."""
    found = by_sequence(loss, corpus, features, i, w, update, constants)
    scores, transitions = brute_force.label_scores(corpus, features, w, i), brute_force.transition_scores(features, w)
    nodes, _ = brute_force.marginals(scores, transitions)
    found[: features.n_state] = 0.0
    for t, p in enumerate(range(corpus.starts[i], corpus.starts[i + 1])):
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            a, value = corpus.attributes[o], corpus.values[o] if len(corpus.values) else 1.0
            for f in range(features.offsets[a], features.offsets[a + 1]):
                k = features.labels[f]
                found[f] += value * direction(update, nodes[t, k], float(corpus.labels[p] == k), constants)
    return found


def ngd(loss, corpus, features, w, order, eta, lam, update, granularity="sequence", **constants):
    """Yield w after each update of one pass over `order`, its first step eta."""
    psi = {"sequence": by_sequence, "position": by_position}[granularity]
    constants = CONSTANTS | constants
    for t, i in enumerate(order):
        a = eta / (1 + eta * lam * t)
        w = (1 - a * lam) * w - a * loss.weights[i] * psi(loss, corpus, features, i, w, update, constants)
        yield w


def batch(loss, w, eta, lam, update, **constants):
    """Yield the start and w after each update of section 3.2, from the means over all sequences."""
    constants, t = CONSTANTS | constants, 0
    n = len(loss.gold)
    while True:
        yield w
        expected = sum(loss.weights[i] * (loss.probabilities(i, w) @ loss.counts[i]) for i in range(n)) / n
        observed = sum(loss.weights[i] * loss.gold[i] for i in range(n)) / n
        psi = np.array([direction(update, E, o, constants) for E, o in zip(expected, observed, strict=True)])
        a = eta / (1 + eta * lam * t)
        w, t = (1 - a * lam) * w - a * psi, t + 1
