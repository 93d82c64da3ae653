"""Would a thread that compiles while the data are being encoded make the first fit shorter?

    FASTCRF_DATA=folder python benchmarks/compile_while_encoding.py [--set conll2000] [--solver lbfgs]

Seconds of the wall, each in a process of its own with an empty cache: data encoded and then kernels compiled (as `fit`
does), and kernels compiled in a thread while the data are encoded. What the thread compiles for is a toy with as many
labels, so that it need not wait for the data. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.training.warm_up import warm_up

WAYS = ("after", "beside")


def compile_for(labels: list[str], solver: str) -> None:
    """Warm up on a toy whose sequences have these labels."""
    X = [[{f"a{k}": 1.0} for k in range(len(labels))]] * 3
    corpus, attributes, known = encode_training(X, [labels] * 3)
    features = build_feature_map(corpus, len(attributes), len(known))
    warm_up(Problem(corpus, features, c2=1.0), registry.make(solver))


def first_fit(way: str, name: str, solver: str) -> dict[str, float]:
    """Seconds until the data are encoded and the kernels compiled."""
    X, y = load(name, items=True, return_X_y=True)
    labels = sorted({label for sequence in y for label in sequence})
    thread = threading.Thread(target=compile_for, args=(labels, solver))
    begin = time.perf_counter()
    if way == "beside":
        thread.start()
    encode_training(X, y)
    encoded = time.perf_counter() - begin
    if way == "after":
        thread.start()
    thread.join()
    return {"encoded": round(encoded, 2), "both": round(time.perf_counter() - begin, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="conll2000")
    parser.add_argument("--solver", default="lbfgs")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        print(json.dumps(first_fit(asked.way, asked.set, asked.solver)))
        return
    for way in WAYS:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-W", "ignore", __file__, "--way", way, "--set", asked.set]
            command += ["--solver", asked.solver]
            done = subprocess.run(
                command, env={**os.environ, "NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True
            )
        print(way, done.stdout.strip().splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
