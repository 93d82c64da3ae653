"""Run with NUMBA_DISABLE_JIT=1: the kernels as plain Python, on a toy problem; prints what they computed as JSON.

Without the compiler every recursion can be counted where it happens, so this is also where the passes that stochastic
solvers report are held against the recursions that they really made.
"""

from __future__ import annotations

import json
from itertools import islice

import numpy as np

import fastcrf.inference.expectations as expectations
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import parse_template
from fastcrf.decoding.compiled_decoder import path_scores, posteriors, viterbi
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from reference.random_corpora import random_corpus, random_features

EPOCHS = 3


def toy_problem(c1=0.0):
    corpus = random_corpus(4, values=True, weights=True)
    corpus = corpus._replace(values=np.abs(corpus.values))  # iterative scaling knows no values below 0
    return Problem(corpus, random_features(4), c1, c2=0.5)


def toy_problems(name):
    """(kind of penalty, problem): those on which a solver runs here."""
    problems = {"l2": toy_problem(), "l1+l2": toy_problem(c1=0.3)}
    return [(kind, problem) for kind, problem in problems.items() if kind in registry.solver_class(name).handles]


def figures(solvers=None):
    """What kernels and these solvers, or all, compute on the toy problem."""
    problem = toy_problem()
    weights = np.random.default_rng(4).normal(size=problem.n_weights)
    smooth, gradient = problem.gradient(weights)
    found = {
        "smooth": smooth,
        "gradient": gradient.tolist(),
        "value": problem.value(weights),
        "auto's rough gradient": problem.in_single_precision().gradient(weights)[1].tolist(),
        "figures": problem.likelihood.sequence_figures(weights).ravel().tolist(),
        "labels": viterbi(problem.corpus, problem.features, weights).tolist(),
        "posteriors": posteriors(problem.corpus, problem.features, weights).ravel().tolist(),
        "path scores": path_scores(problem.corpus, problem.features, weights, problem.corpus.labels).tolist(),
        "attributes": attributes_by_template(),
    }
    for name in solvers or registry.names():
        for kind, toy in toy_problems(name):
            steps = islice(registry.make(name).iterate(toy, np.zeros(toy.n_weights)), EPOCHS)
            found[f"{name}, {kind}"] = [number for step in steps for number in (step.passes, *step.weights.tolist())]
    return found


def attributes_by_template():
    """Attribute ids that the template engine gives out."""
    template = TemplateAttributes.empty(parse_template("u:%x[0,0]\nu:%x[-1,0]/%x[0,0]\nu:%x[@-1,0]%x[1,0]", "wapiti"))
    X = [[["a"], ["b"], ["a"]], [["b"]]]
    corpus, learnt, _ = encode_training(X, [list("XYX"), ["Y"]], known=template)
    return [*corpus.attributes.tolist(), *Encoder(learnt).encode([[["a"], ["c"]]]).attributes.tolist()]


def counted_passes(name, problem):
    """(passes that a solver reports, recursions that it made over the number of sequences), after each Step."""
    import sys

    problem.part(np.zeros(problem.n_weights))  # made before counting
    count = 0
    originals = {verb: getattr(expectations, verb) for verb in ("infer", "log_partition")}

    def counting(original):
        def verb(*args):
            nonlocal count
            count += 1
            return original(*args)

        return verb

    replaced = [
        (module, verb, original)
        for module in list(sys.modules.values())
        for verb, original in originals.items()
        if getattr(module, verb, None) is original
    ]
    rows = []
    try:
        for module, verb, original in replaced:
            setattr(module, verb, counting(original))
        reported = 0.0
        for step in islice(registry.make(name).iterate(problem, np.zeros(problem.n_weights)), EPOCHS):
            reported += step.passes
            rows.append((reported, count / problem.n_sequences))
    finally:
        for module, verb, original in replaced:
            setattr(module, verb, original)
    return rows


if __name__ == "__main__":
    needs = {name: registry.solver_class(name).needs for name in registry.names()}
    # A product with the Hessian is a recursion of its own kind, which is not counted here.
    drawing = [name for name in needs if "sequences" in needs[name] and "sequence-hessian" not in needs[name]]
    passes = {f"{name}, {kind}": counted_passes(name, toy) for name in drawing for kind, toy in toy_problems(name)}
    print(json.dumps({"figures": figures(), "passes": passes}))
