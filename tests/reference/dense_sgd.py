"""Stochastic gradient descent with dense vectors, and the searches for its first step size, in plain Python.

Written from the formulas of Bottou's crfsgd and CRFsuite's train_l2sgd; sequence gradients come from enumeration.
"""

from __future__ import annotations

import math


def sgd(loss, w, order, steps, lam, batch_size=1, shrink_first=False):
    """Yield (w, loss of the batch before the update) for each update."""
    for k, a in enumerate(steps):
        members = order[k * batch_size : (k + 1) * batch_size]
        if shrink_first:
            w = (1 - a * lam) * w
        before = sum(loss.value(i, w) for i in members)
        g = sum(loss.gradient(i, w) for i in members) / len(members)
        w = w - a * g if shrink_first else (1 - a * lam) * w - a * g
        yield w, before


def one_pass(loss, w, order, steps, lam, **options):
    """(w, sum of online losses) at the end."""
    updates = list(sgd(loss, w, order, steps, lam, **options))
    return updates[-1][0], sum(before for _, before in updates)


def mean_objective(loss, w, sample, lam):
    return sum(loss.value(i, w) for i in sample) / len(sample) + lam / 2 * (w @ w)


def bottou_search(trial, start):
    """The loop of crfsgd's adjustEta; `trial(eta)` is an objective, `start` the one before any training."""
    best_eta, best = 1.0, start
    eta, to_test, phase2 = 0.1, 10, False
    while to_test > 0 or not phase2:
        objective = trial(eta)
        okay = objective < start
        if okay:
            to_test -= 1
            if objective < best:
                best_eta, best = eta, objective
        if not phase2:
            if okay:
                eta = eta * 2
            else:
                phase2 = True
                eta = 0.1
        if phase2:
            eta = eta / 2
    return best_eta / 2


def crfsuite_search(trial, start, first=0.1, rate=2.0, candidates=10, max_trials=20):
    """The loop of l2sgd_calibration."""
    eta = best_eta = first
    best, number, decreasing, trials = math.inf, candidates, False, 1
    while number > 0 or not decreasing:
        score = trial(eta)
        ok = math.isfinite(score) and score < start
        if ok:
            number -= 1
        if math.isfinite(score) and score < best:
            best_eta, best = eta, score
        if decreasing:
            eta /= rate
        elif ok and number > 0:
            eta *= rate
        else:
            decreasing, number, eta = True, candidates, first / rate
        trials += 1
        if max_trials <= trials:
            break
    return best_eta


def bottou_rates(eta, lam, n):
    """1 / (lambda (t0 + t)), t0 = 1 / (lambda eta)."""
    t0 = 1 / (lam * eta)
    return [1 / (lam * (t0 + t)) for t in range(n)]


def bottou_eta(loss, w, sample, lam, batch_size=1):
    def trial(eta):
        steps = [eta] * math.ceil(len(sample) / batch_size)
        return mean_objective(loss, one_pass(loss, w, sample, steps, lam, batch_size=batch_size)[0], sample, lam)

    return bottou_search(trial, mean_objective(loss, w, sample, lam))


def crfsuite_eta(loss, w, sample, lam, **search):
    """Penalty and losses are those of the sample (CRFsuite hands the sample's size to its epochs as N)."""

    def trial(eta):
        rates = bottou_rates(eta, lam, len(sample))
        there, online = one_pass(loss, w, sample, rates, lam, shrink_first=True)
        return online + lam / 2 * (there @ there) * len(sample)

    return crfsuite_search(trial, mean_objective(loss, w, sample, lam) * len(sample), **search)
