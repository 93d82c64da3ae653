"""Sequences as arrays: CPU seconds to encode them, beside dicts with the same numbers, to train and to tag.

    python benchmarks/arrays.py [--tokens 20000] [--columns 100] [--labels 9]

The data are random; labels depend on the columns. The second of two fits is shown: the first may compile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fastcrf import CRF
from fastcrf.data.encoding.encoder import encode_training

LENGTH = 20  # tokens in a sequence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--labels", type=int, default=9)
    options = parser.parse_args()
    X, y = make_data(options.tokens // LENGTH, options.columns, options.labels)
    dicts = [[{f"f{d}": float(value) for d, value in enumerate(row)} for row in x] for x in X]
    show("encode arrays", lambda: encode_training(X, y))
    show("encode dicts", lambda: encode_training(dicts, y))
    for algorithm in ("lbfgs", "auto"):
        crf = CRF(algorithm, n_jobs=1)
        show(f"fit, {algorithm}", partial(crf.fit, X, y))
        print(f"    {crf.certificate_}")
    show("predict", partial(crf.predict, X))
    matrix, weights = np.concatenate(X).astype(np.float64), np.ones((options.columns, options.labels))
    show("E @ W and E.T @ R by BLAS", lambda: matrix.T @ (matrix @ weights))


def make_data(n: int, n_columns: int, n_labels: int) -> tuple[list[Any], list[list[str]]]:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(n_columns, n_labels))
    X = [rng.normal(size=(LENGTH, n_columns)).astype(np.float32) for _ in range(n)]
    scores = (x @ weights + 3 * rng.normal(size=(LENGTH, n_labels)) for x in X)
    return X, [[f"L{k}" for k in each.argmax(axis=1)] for each in scores]


def show(what: str, work: Callable[[], Any]) -> None:
    """Print the CPU seconds of the second call."""
    work()
    began = time.process_time()
    work()
    print(f"{what:28}{time.process_time() - began:8.3f} s", flush=True)


if __name__ == "__main__":
    main()
