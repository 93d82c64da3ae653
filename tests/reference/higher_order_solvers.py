"""Run with NUMBA_DISABLE_JIT=1: every solver on chains of higher order, as plain Python; prints figures as JSON.

Compiled, each of them would take the compiler's time once more for what no other test needs.
"""

from __future__ import annotations

import json
from itertools import islice

import numpy as np

from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from reference.random_corpora import random_corpus, random_features

STEPS, MANY = 5, 60
REACHING = ("lbfgs", "sag", "saga", "svrg", "auto", "newton-cg", "sdca", "oeg", "bcd")


def toy_problem(name, features):
    """On a penalty that the solver handles."""
    handles = registry.solver_class(name).handles
    c1, c2 = (0.0, 0.5) if "l2" in handles else (0.2, 0.0) if "l1" in handles else (0.0, 0.0)
    corpus = random_corpus(3, lengths=(4, 1, 5, 2, 3), values=True, weights=True)
    return Problem(corpus._replace(values=np.abs(corpus.values)), features, c1, c2)


def trajectory(name, features, n_steps=STEPS):
    """The weights after each of some steps."""
    problem = toy_problem(name, features)
    steps = islice(registry.make(name).iterate(problem, np.zeros(problem.n_weights)), n_steps)
    return [step.weights.copy() for step in steps]


def difference_without_grams(name):
    """Where no longer gram has a weight, a chain of order 3 is one of order 1: how far the weights are apart."""
    one = random_features(3)
    pairs = zip(trajectory(name, one), trajectory(name, one._replace(order=3)), strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def values_with_grams(name):
    """F at the start and after each step."""
    features = random_features(3, order=3, density=0.3)
    problem = toy_problem(name, features)
    return [problem.value(w) for w in (np.zeros(problem.n_weights), *trajectory(name, features))]


if __name__ == "__main__":
    chain = random_features(3, order=3, density=0.3)
    reached = {name: toy_problem(name, chain).value(trajectory(name, chain, MANY)[-1]) for name in REACHING}
    rows = {
        name: {"apart": difference_without_grams(name), "values": values_with_grams(name)} for name in registry.names()
    }
    print(json.dumps({**rows, "reached": reached}))
