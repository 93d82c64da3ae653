"""Trainers that learn from mistakes on CoNLL-2000, against CRFsuite's in the same run.

    FASTCRF_DATA=folder python benchmarks/margin.py [--epochs 20] [--seeds 3]

For each of ap, pa and arow: the least seconds of an epoch and the token accuracy on the test set after so many epochs, of
CRFsuite (through python-crfsuite, whose order of sequences is C's rand()) and of fastcrf (for each seed). CRFsuite tells
processor time, to the millisecond; fastcrf's is wall-clock time, so other work on the machine counts against fastcrf.
mira has no peer.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

import peer
import pycrfsuite

from fastcrf import CRF
from fastcrf.data.corpora.loaders import load

PEERS = ("ap", "pa", "arow")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    train, test = (load("conll2000", subset=part, items=True, return_X_y=True) for part in ("train", "test"))
    print("algorithm  seconds an epoch: CRFsuite  fastcrf  ratio    test accuracy: CRFsuite  fastcrf, each seed")
    for algorithm in (*PEERS, "mira"):
        their_time, theirs = crfsuite(algorithm, options.epochs, train, test) if algorithm in PEERS else (None, None)
        ours = [fastcrf(algorithm, options.epochs, seed, train, test) for seed in range(options.seeds)]
        our_time, accuracies = min(time for time, _ in ours), [accuracy for _, accuracy in ours]
        each = " ".join(f"{100 * accuracy:.2f}" for accuracy in accuracies)
        of_peer = f"{their_time:.3f}  {our_time:.3f}  {their_time / our_time:.1f}" if their_time else f"{our_time:.3f}"
        known = f"{100 * theirs:.2f}  " if theirs else ""
        print(f"{algorithm}  {of_peer}    {known}{each} (mean {100 * mean(accuracies):.2f})", flush=True)


def crfsuite(algorithm: str, epochs: int, train: Any, test: Any) -> tuple[float, float]:
    """(the least seconds of an epoch, test accuracy)."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        rows = peer.train(*train, path, algorithm, max_iterations=epochs)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        predicted = [tagger.tag(sequence) for sequence in test[0]]
    return min(float(row["time"]) for row in rows), accuracy(predicted, test[1])


def fastcrf(algorithm: str, epochs: int, seed: int, train: Any, test: Any) -> tuple[float, float]:
    crf = CRF(algorithm, max_iterations=epochs, random_state=seed, crfsuite_compat=True).fit(*train)
    seconds = [row["seconds"] for row in crf.history_]
    least = min(after - before for before, after in zip(seconds, seconds[1:], strict=False))
    return least, accuracy(crf.predict(test[0]), test[1])


def accuracy(predicted: Any, gold: Any) -> float:
    pairs = [pair for a, b in zip(predicted, gold, strict=True) for pair in zip(a, b, strict=True)]
    return mean(a == b for a, b in pairs)


if __name__ == "__main__":
    main()
