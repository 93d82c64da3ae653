"""Kernels against more digits, on random models: python -m fuzz.numbers --models 10000 --minutes 60

Printed are, for each size of scores, the worst errors: of log Z relative to it (and to 1 where it is smaller), of a
marginal probability, of an expected label bigram relative to the length, and by how much the path that Viterbi found is
worse than the best one, relative to its score.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.decoding.compiled_decoder import infer_corpus, path_scores, viterbi
from fastcrf.objective.likelihood import Likelihood
from fuzz.extended import Answers, by_longdouble, by_mpmath

SIZES = (1e-3, 1.0, 30.0, 1e3, 1e6)
COLUMNS = ("log Z", "marginals", "bigrams", "Viterbi")
OFTEN = 1000  # models, after which the worst errors so far are shown: a run takes long


def one_chain(scores: Floats, transitions: Floats) -> tuple[Corpus, FeatureMap, Floats]:
    """A corpus and weights whose label scores and transitions are exactly the given ones."""
    T, K = scores.shape
    every = np.arange(K, dtype=np.int32)
    corpus = Corpus(
        np.array([0, T]),
        np.arange(T + 1),
        np.arange(T, dtype=np.int32),
        np.zeros(0),
        np.zeros(T, np.int32),
        np.zeros(0),
    )
    features = FeatureMap(np.arange(T + 1) * K, np.tile(every, T), np.repeat(every, K), np.tile(every, K), K)
    return corpus, features, np.concatenate((scores.ravel(), transitions.ravel()))


def random_chain(rng: np.random.Generator, size: float, most_labels: int, longest: int) -> tuple[Floats, Floats]:
    """Scores up to `size`, of labels or of transitions or of both; some with ties."""
    K, T = int(rng.integers(1, most_labels + 1)), int(np.exp(rng.uniform(0, np.log(longest + 1))))
    other = size * float(rng.choice([1.0, 1e-3, 0.0]))
    first, second = (size, other) if rng.random() < 0.5 else (other, size)
    scores, transitions = rng.uniform(-1, 1, (T, K)) * first, rng.uniform(-1, 1, (K, K)) * second
    return (np.round(scores), np.round(transitions)) if rng.random() < 0.2 else (scores, transitions)


def errors(scores: Floats, transitions: Floats, judge: Callable[[Floats, Floats], Answers] = by_longdouble) -> Floats:
    """The errors of the kernels on one chain, in the order of COLUMNS."""
    T, K = scores.shape
    corpus, features, weights = one_chain(scores, transitions)
    right = judge(scores, transitions)
    nodes, (log_z,) = infer_corpus(corpus, features, weights)
    likelihood = Likelihood(corpus, features)
    gradient = likelihood.gradient(weights)[1]
    edges = gradient[features.n_state :].reshape(K, K)
    edges[0, 0] += T - 1  # the gold labels are all 0
    (value,) = likelihood.log_partitions(weights)
    (path,) = path_scores(corpus, features, weights, viterbi(corpus, features, weights))
    scale = max(1.0, abs(float(right.log_z)))
    return np.array(
        [
            max(abs(float(log_z - right.log_z)), abs(float(value - right.log_z))) / scale,
            float(np.abs(nodes - right.nodes).max()),
            float(np.abs(edges - right.edges).max()) / T,
            abs(float(path - right.best)) / max(1.0, abs(float(right.best))),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.numbers")
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--skip", type=int, default=0, help="so many models that an earlier run has judged")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mpmath", action="store_true", help="small models, against mpmath with 60 digits")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    most_labels, longest = (5, 10) if options.mpmath else (60, 2000)
    worst, counts, lengths = np.zeros((len(SIZES), 4)), np.zeros(len(SIZES), int), []
    end = time.monotonic() + 60 * options.minutes
    for n in range(options.models):
        s = n % len(SIZES)
        chain = random_chain(rng, SIZES[s], most_labels, longest)
        if n < options.skip:
            continue
        worst[s] = np.maximum(worst[s], errors(*chain, by_mpmath if options.mpmath else by_longdouble))
        counts[s] += 1
        lengths.append(len(chain[0]))
        last = n + 1 == options.models or time.monotonic() > end
        if last or (n + 1) % OFTEN == 0:
            print(f"1 to {most_labels} labels, {min(lengths)} to {max(lengths):,} tokens")
            show(counts, worst)
        if last:
            break


def show(counts: np.ndarray, worst: Floats) -> None:
    print(f"{'scores up to':>14}{'models':>8}" + "".join(f"{name:>12}" for name in COLUMNS))
    for size, count, row in zip(SIZES, counts, worst, strict=True):
        print(f"{size:>14g}{count:>8,}" + "".join(f"{error:>12.1e}" for error in row), flush=True)


if __name__ == "__main__":
    main()
