"""Chains of higher order beside order 1, with and without boundaries: F1, seconds a gradient, and what there is to do.

    python benchmarks/order.py [--data DIR] [--sets conll2000] [--orders 1,2,3] [--c2 1] [--tol 1e-3] [--share 1.0]
                               [--jobs 1] [--only speed,quality]

speed:   processor seconds a gradient, the least of several that took turns, of each order; beside it the rows of the
         recursions: as many as there are known contexts, of K, K^2 ... that could be.
quality: token accuracy and segment F1 on the test part, at c2, trained by auto to the certified gap --tol.

F1 and passes do not depend on how busy the machine is; seconds do.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import corpora
import numpy as np

from fastcrf import CRF
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.feature_space.label_contexts import n_contexts
from fastcrf.metrics import segment_scores
from fastcrf.objective.problem import Problem

REPEATS = 5


def speed(X: list[Any], y: list[Any], orders: list[int], n_jobs: int) -> None:
    corpus, attributes, labels = encode_training(X, y)
    problems = {
        order: Problem(
            corpus, build_feature_map(corpus, len(attributes), len(labels), order=order), c2=1.0, n_jobs=n_jobs
        )
        for order in orders
    }
    best = dict.fromkeys(problems, np.inf)
    for turn in range(REPEATS + 1):
        for order, problem in problems.items():
            weights = np.random.default_rng(0).normal(0.0, 0.1, problem.n_weights)
            began = time.process_time()
            problem.gradient(weights)
            if turn:  # the first one compiles
                best[order] = min(best[order], time.process_time() - began)
    for order, problem in problems.items():
        transitions, rows = len(problem.features.sources), problem.likelihood.layout.n_contexts
        micro = 1e6 * best[order] / corpus.n_positions
        print(
            f"order {order}: {problem.n_weights:,} weights, {transitions:,} of transitions; {rows:,} contexts of "
            f"{n_contexts(len(labels), order):,}; {best[order]:.4f} s a pass, {micro:.2f} us a token"
        )


def quality(
    X: list[Any], y: list[Any], test: tuple[list[Any], list[Any]], orders: list[int], c2: float, tol: float, n_jobs: int
) -> None:
    X_test, y_test = test
    for boundaries in (False, True):
        for order in orders:
            crf = CRF(c2=c2, tol=tol, order=order, boundaries=boundaries, n_jobs=n_jobs).fit(X, y)
            predicted = crf.predict(X_test)
            right = sum(a == b for p, q in zip(predicted, y_test, strict=True) for a, b in zip(p, q, strict=True))
            accuracy = right / sum(map(len, y_test))
            f1, last = segment_scores(y_test, predicted).overall.f1, crf.history_[-1]
            with_ends = "with boundaries" if boundaries else "without"
            print(
                f"order {order}, {with_ends:15}: F1 {100 * f1:.2f}, tokens {100 * accuracy:.2f} %, "
                f"{last['passes']:.0f} passes, {last['seconds']:.1f} s, F {crf.certificate_.objective:.1f}, "
                f"gap {crf.certificate_.relative_gap:.1e}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--sets", default="conll2000")
    parser.add_argument("--orders", default="1,2,3")
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="speed,quality")
    given = parser.parse_args()
    folder, orders = corpora.data_folder(given.data), [int(order) for order in given.orders.split(",")]
    for name in given.sets.split(","):
        X, y = corpora.load(folder, name)
        n = max(1, int(given.share * len(X)))
        print(f"{name}: {n:,} sentences, {sum(map(len, y[:n])):,} tokens", flush=True)
        if "speed" in given.only:
            speed(X[:n], y[:n], orders, given.jobs)
        if "quality" in given.only:
            test = corpora.load(folder, name, corpora.TASKS[name].test)
            quality(X[:n], y[:n], test, orders, given.c2, given.tol, given.jobs)


if __name__ == "__main__":
    main()
