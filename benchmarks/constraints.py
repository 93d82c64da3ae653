"""What constraints cost and what they give: validity, speed of decoding, F1.

    FASTCRF_DATA=folder python benchmarks/constraints.py valid     a million constrained decodes, none invalid
    FASTCRF_DATA=folder python benchmarks/constraints.py speed     plain and constrained decoding take turns
    FASTCRF_DATA=folder python benchmarks/constraints.py f1        F1 with and without the scheme

`valid` decodes random sequences of tokens of CoNLL-2000's test set, whose labels an unconstrained model often gets out
of order. `speed` times `predict` after encoding, in CPU time of one thread, the minimum of the repeats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from corpora import Task, data_folder, sentences

from fastcrf import CRF, Constraints, Model
from fastcrf.core.types import Corpus
from fastcrf.metrics import segment_scores

CHUNKS = Task("conll2000", "chunking")
NAMES = {
    "CoNLL-2000": (CHUNKS, "test"),
    "CoNLL-2002 Dutch": (Task("conll2002-ned", "ner"), "testb"),
    "CoNLL-2002 Spanish": (Task("conll2002-esp", "ner"), "testb"),
}
BROWN = Task("brown-base", "pos", positions=250_000)
BATCH = 20_000  # sequences
WORDS = "w[0]="


def read(task: Task, part: str, given: argparse.Namespace) -> tuple[list[Any], list[Any]]:
    X, y = zip(*sentences(data_folder(given.data), task, part), strict=True)
    return list(X), list(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["valid", "speed", "f1"])
    parser.add_argument("--data", help="the folder of the corpora")
    parser.add_argument("--corpus", choices=list(NAMES), help="the only corpus of f1")
    parser.add_argument("--decodes", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    {"valid": valid, "speed": speed, "f1": f1}[given.part](given)


def valid(given: argparse.Namespace) -> None:
    """Decode random sequences, and count those that break BIO by its definition."""
    model = CRF().fit(*read(CHUNKS, "train", given)).model_
    tokens, rng = model._decoder.encode(read(CHUNKS, "test", given)[0]), np.random.default_rng(0)
    broken, done = {"BIO": 0, None: 0}, 0
    while done < given.decodes:
        lengths = rng.integers(1, 12, min(BATCH, given.decodes - done))
        corpus = gathered(tokens, rng.integers(0, tokens.n_positions, lengths.sum()), lengths)
        for constraints in broken:
            labels = model._decoder.best(corpus, model._decoder.allowed(corpus, constraints))
            broken[constraints] += count_broken(model.labels, labels, corpus)
        done += len(lengths)
    print(f"{done:,} sequences: {broken['BIO']:,} break BIO with constraints, {broken[None]:,} without")


def gathered(tokens: Corpus, chosen: np.ndarray, lengths: np.ndarray) -> Corpus:
    """A corpus of these positions of another one."""
    counts = np.diff(tokens.offsets)[chosen]
    offsets = np.concatenate(([0], np.cumsum(counts)))
    places = np.repeat(tokens.offsets[chosen] - offsets[:-1], counts) + np.arange(offsets[-1])
    return Corpus(
        np.concatenate(([0], np.cumsum(lengths))), offsets, tokens.attributes[places], np.empty(0),
        np.empty(0, np.int32), np.empty(0),
    )  # fmt: skip


def count_broken(names: list[str], labels: np.ndarray, corpus: Corpus) -> int:
    """How many sequences have I-x after anything but B-x and I-x."""
    number, before = 0, np.concatenate(([-1], labels[:-1]))
    before[corpus.starts[:-1]] = -1
    pairs, counts = np.unique(np.stack((before, labels)), axis=1, return_counts=True)
    wrong = [(j, k) for j, k in pairs.T.tolist() if wrong_pair(names[j] if j >= 0 else "O", names[k])]
    at = np.zeros(len(labels), bool)
    for j, k in wrong:
        at |= (before == j) & (labels == k)
    number = len(np.unique(np.searchsorted(corpus.starts, np.flatnonzero(at), "right")))
    assert counts.sum() == len(labels)
    return number


def speed(given: argparse.Namespace) -> None:
    """Time plain and constrained decoding, and marginals, in turn."""
    print(
        "| corpus | labels | constraints | Viterbi, ns per token | ratio | marginals, ns per token | ratio | accuracy |"
    )
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    for name, (task, part) in NAMES.items():
        model = CRF(max_iterations=40, tol=0.01).fit(*read(task, "train", given)).model_
        report(name, model, read(task, part, given), {"none": None, "BIO": "BIO"}, given.repeats)
    crf = CRF(max_iterations=40, tol=0.01, constraints=Constraints(dictionary=WORDS)).fit(*read(BROWN, "train", given))
    report("brown-base", crf.model_, read(BROWN, "test", given), {"none": None, "dictionary": "model"}, given.repeats)


def report(name: str, model: Model, test: tuple[list[Any], list[Any]], ways: dict[str, Any], repeats: int) -> None:
    decoder, (X, y) = model._decoder, test
    corpus, gold = decoder.encode_labeled(X, y)
    allowed = {way: decoder.allowed(corpus, constraints) for way, constraints in ways.items()}
    viterbi = in_turn({way: partial(decoder.best, corpus, own) for way, own in allowed.items()}, repeats)
    inference = in_turn({way: partial(decoder.infer, corpus, own) for way, own in allowed.items()}, repeats)
    for way, own in allowed.items():
        accuracy = (decoder.best(corpus, own) == gold).mean()
        each = (
            f"{1e9 * spent[way] / corpus.n_positions:,.0f} | {spent[way] / spent['none']:.2f}"
            for spent in (viterbi, inference)
        )
        print(f"| {name} | {len(model.labels)} | {way} | {' | '.join(each)} | {100 * accuracy:.2f} |", flush=True)
    way, constraints = list(ways.items())[-1]
    spent = in_turn({way: partial(decoder.allowed, corpus, constraints)}, repeats)[way]
    print(f"({way}: {1e9 * spent / corpus.n_positions:,.0f} ns per token to find the sets of labels)", flush=True)


def in_turn(work: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least CPU seconds of each, which take turns."""
    least = dict.fromkeys(work, np.inf)
    for _ in range(repeats):
        for name, run in work.items():
            before = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - before)
    return least


def following_bio(X: list[Any], y: list[Any]) -> tuple[list[Any], list[Any]]:
    """The sequences whose labels follow BIO: Spanish has one that does not, which constrained training rejects."""
    kept = [i for i, labels in enumerate(y) if not any(wrong_pair(*pair) for pair in pairwise(["O", *labels]))]
    if len(kept) < len(y):
        print(f"({len(y) - len(kept)} of {len(y):,} training sequences break BIO and are left out)", flush=True)
    return [X[i] for i in kept], [y[i] for i in kept]


def wrong_pair(before: str, label: str) -> bool:
    return label[0] == "I" and (before == "O" or before[1:] != label[1:])


def f1(given: argparse.Namespace) -> None:
    """F1 of segments without constraints, with them in decoding, and with them in training also."""
    print("| corpus | training | decoding | F1 | invalid sequences | certified gap |")
    print("|---|---|---|--:|--:|--:|")
    for name, (task, part) in NAMES.items():
        if given.corpus not in (None, name):
            continue
        (X, y), (X_test, y_test) = following_bio(*read(task, "train", given)), read(task, part, given)
        plain = CRF("lbfgs").fit(X, y)
        whole = CRF("lbfgs", constraints="BIO", constrained_training=True).fit(X, y)
        rows = (
            ("all sequences", "all", plain, None),
            ("all sequences", "BIO", plain, "BIO"),
            ("BIO", "BIO", whole, "BIO"),
        )
        for training, decoding, crf, constraints in rows:
            predicted = crf.predict(X_test, constraints=constraints)
            score = 100 * segment_scores(y_test, predicted).overall.f1
            corpus, labels = crf.model_._decoder.encode_labeled(X_test, predicted)
            broken = count_broken(crf.classes_, labels, corpus)
            gap = crf.certificate_.relative_gap
            print(f"| {name} | {training} | {decoding} | {score:.2f} | {broken} | {gap:.1e} |", flush=True)


if __name__ == "__main__":
    main()
