"""Chains of order 2 beside order 1, with and without boundaries: F1, seconds a gradient, and what K^3 predicts.

    python benchmarks/order.py [--data DIR] [--sets conll2000] [--c2 1] [--tol 1e-3] [--share 1.0] [--jobs 1]
                               [--only speed,quality]

speed:   processor seconds a gradient, the least of several that took turns, of either order; beside K, the ratio of the
         multiplications of the recursions. Attributes cost the same in both, so that the ratio of seconds is less.
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
from fastcrf.chain.feature_map import build_feature_map
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.metrics import segment_scores
from fastcrf.objective.problem import Problem

REPEATS = 5


def speed(X: list[Any], y: list[Any], n_jobs: int) -> None:
    corpus, attributes, labels = encode_training(X, y)
    problems = {
        order: Problem(
            corpus, build_feature_map(corpus, len(attributes), len(labels), order=order), c2=1.0, n_jobs=n_jobs
        )
        for order in (1, 2)
    }
    best = dict.fromkeys(problems, np.inf)
    for turn in range(REPEATS + 1):
        for order, problem in problems.items():
            weights = np.random.default_rng(0).normal(0.0, 0.1, problem.n_weights)
            began = time.process_time()
            problem.gradient(weights)
            if turn:  # the first one compiles
                best[order] = min(best[order], time.process_time() - began)
    K, P = len(labels), corpus.n_positions
    for order, problem in problems.items():
        transitions = len(problem.features.sources)
        print(
            f"order {order}: {problem.n_weights:,} weights, {transitions:,} of transitions; {best[order]:.3f} s a pass"
        )
    more = (best[2] - best[1]) / P
    rate = 3 * 2 * K**3 / more / 1e9
    print(f"K = {K}: K^3 / K^2 = {K}; order 2 takes {best[2] / best[1]:.1f} times as long, {more * 1e6:.2f} us a token")
    print(f"more: 3 K^3 multiply-adds at {rate:.1f} GFlop/s on {n_jobs} thread(s)")


def quality(X: list[Any], y: list[Any], test: tuple[list[Any], list[Any]], c2: float, tol: float, n_jobs: int) -> None:
    X_test, y_test = test
    for boundaries in (False, True):
        for order in (1, 2):
            crf = CRF(c2=c2, tol=tol, order=order, boundaries=boundaries, n_jobs=n_jobs).fit(X, y)
            predicted = crf.predict(X_test)
            right = sum(a == b for p, q in zip(predicted, y_test, strict=True) for a, b in zip(p, q, strict=True))
            accuracy = right / sum(map(len, y_test))
            f1, last = segment_scores(y_test, predicted).overall.f1, crf.history_[-1]
            with_ends = "with boundaries" if boundaries else "without"
            print(
                f"order {order}, {with_ends:15}: F1 {100 * f1:.2f}, tokens {100 * accuracy:.2f} %, "
                f"{last['passes']:.0f} passes, {last['seconds']:.1f} s, F {crf.certificate_.objective:.1f}, "
                f"gap {crf.certificate_.relative:.1e}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--sets", default="conll2000")
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="speed,quality")
    given = parser.parse_args()
    folder = corpora.data_folder(given.data)
    for name in given.sets.split(","):
        X, y = corpora.load(folder, name)
        n = max(1, int(given.share * len(X)))
        print(f"{name}: {n:,} sentences, {sum(map(len, y[:n])):,} tokens", flush=True)
        if "speed" in given.only:
            speed(X[:n], y[:n], given.jobs)
        if "quality" in given.only:
            test = corpora.load(folder, name, corpora.TASKS[name].test)
            quality(X[:n], y[:n], test, given.c2, given.tol, given.jobs)


if __name__ == "__main__":
    main()
