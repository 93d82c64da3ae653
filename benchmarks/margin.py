"""Trainers that learn from mistakes on CoNLL-2000, against CRFsuite's in the same run.

    FASTCRF_DATA=folder python benchmarks/margin.py [--epochs 20] [--seeds 3] [--only ap,pa,arow,mira]

For each of ap, pa and arow: the least seconds of an epoch and the token accuracy on the test set after so many epochs,
of CRFsuite (through python-crfsuite, whose order of sequences is C's rand()) and of fastcrf (for each seed). Seconds
are those of the processor, as CRFsuite tells them; neither uses a second thread. mira has no peer.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import peer
import pycrfsuite

from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.training.warm_up import warm_up

PEERS = ("ap", "pa", "arow")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="ap,pa,arow,mira")
    options = parser.parse_args()
    train, test = (load("conll2000", subset=part, items=True, return_X_y=True) for part in ("train", "test"))
    print("algorithm  seconds an epoch: CRFsuite  fastcrf  ratio    test accuracy: CRFsuite  fastcrf, each seed")
    for algorithm in options.only.split(","):
        their_time, theirs = crfsuite(algorithm, options.epochs, train, test) if algorithm in PEERS else (None, None)
        ours = [fastcrf(algorithm, options.epochs, seed, train, test) for seed in range(options.seeds)]
        our_time, accuracies = min(time for time, _ in ours), [accuracy for _, accuracy in ours]
        each = " ".join(f"{100 * accuracy:.2f}" for accuracy in accuracies)
        of_peer = f"{their_time:.3f}  {our_time:.3f}  {their_time / our_time:.1f}" if their_time else f"{our_time:.3f}"
        known = f"{100 * theirs:.2f}  " if theirs else ""
        print(f"{algorithm}  {of_peer}    {known}{each} (mean {100 * mean(accuracies):.2f})", flush=True)


def crfsuite(algorithm: str, epochs: int, train: Any, test: Any) -> tuple[float, float]:
    """(the least seconds of an epoch, test accuracy)."""
    X, y = train
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        rows = peer.train(X, y, path, algorithm, max_iterations=epochs)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        predicted = [tagger.tag(sequence) for sequence in test[0]]
    return min(float(row["time"]) for row in rows), accuracy(predicted, test[1])


def fastcrf(algorithm: str, epochs: int, seed: int, train: Any, test: Any) -> tuple[float, float]:
    """(the least seconds of an epoch, test accuracy)."""
    corpus, attributes, labels = encode_training(*train)
    features = build_feature_map(corpus, len(attributes), len(labels), drop_negative=True)
    problem, solver, seconds = Problem(corpus, features), make(algorithm, seed=seed), []
    warm_up(problem, solver)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    step = next(steps)
    for _ in range(epochs):
        began = time.process_time()
        step = next(steps)
        seconds.append(time.process_time() - began)
    unseen = Encoder(attributes).encode_labeled(test[0], test[1], labels)
    return min(seconds), float(np.mean(viterbi(unseen, features, step.weights) == unseen.labels))


def accuracy(predicted: Any, gold: Any) -> float:
    pairs = [pair for a, b in zip(predicted, gold, strict=True) for pair in zip(a, b, strict=True)]
    return mean(a == b for a, b in pairs)


if __name__ == "__main__":
    main()
