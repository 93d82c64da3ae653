"""Whether a change costs time: the same work by several versions of the sources, in turns.

    git worktree add ../before ef16235
    python benchmarks/versions.py ../before . [--rounds 7] [--only gradient,epoch,tag,decode] [--sentences N]
                                  [--data DIR]

CoNLL-2000, or its first N sentences, on one thread: a gradient; an epoch of sag-nus-star; tagging the test set from
lists of strings; decoding the encoded training set. Each version is a process of its own, which has its kernels
compiled before the first round; the order of versions is reversed from round to round. Run it on an otherwise idle
machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

WORK = ("gradient", "epoch", "tag", "decode")
MODULES = {  # newest first: modules have moved; behind a colon, the name there
    "encode_training": ("fastcrf.data.encoding.encoder", "fastcrf.data.corpus"),
    "limit": ("fastcrf.stopping:MaxIterations", "fastcrf.training.stopping:MaxSteps"),
    "make": ("fastcrf.solvers.registry", "fastcrf.solvers.base"),
    "viterbi": ("fastcrf.decoding.compiled_decoder", "fastcrf.chain.decode"),
    "build_feature_map": (
        "fastcrf.feature_space.feature_map",
        "fastcrf.features.feature_map",
        "fastcrf.chain.feature_map",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, help="folders of sources; the first is what others are held to")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(WORK))
    parser.add_argument("--sentences", type=int, help="of the training set (default: all); a few show that it runs")
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        answer(options.data, options.sentences)
    else:
        compare(options.trees, options.only.split(","), options.rounds, options.data, options.sentences)


def compare(trees: list[Path], names: list[str], rounds: int, data: str | None, sentences: int | None) -> None:
    import corpora

    folder = str(corpora.data_folder(data))
    workers = [start(tree.resolve(), folder, sentences) for tree in trees]
    for worker in workers:
        read(worker)  # it is ready
    for name in names:
        seconds = np.empty((rounds, len(trees)))
        for r in range(rounds):
            for k in range(len(trees))[:: 1 if r % 2 else -1]:
                seconds[r, k] = ask(workers[k], name)
        ratios = np.median(seconds, axis=0) / np.median(seconds[:, 0])
        for tree, column, ratio in zip(trees, seconds.T, ratios, strict=True):
            figures = f"median {1e3 * np.median(column):8.2f} ms  least {1e3 * column.min():8.2f} ms"
            print(f"{name:10}{tree!s:32}{figures}  ratio of medians {ratio:.3f}", flush=True)
    for worker in workers:
        worker.communicate()  # nothing more to do


def start(tree: Path, data: str, sentences: int | None) -> subprocess.Popen[str]:
    paths = os.pathsep.join((str(tree / "src"), str(tree / "benchmarks")))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, __file__, "--worker", "--data", data, str(tree)]
    if sentences is not None:
        command += ["--sentences", str(sentences)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(worker: subprocess.Popen[str], name: str) -> float:
    assert worker.stdin
    print(name, file=worker.stdin, flush=True)
    return float(read(worker))


def read(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout
    line = worker.stdout.readline()
    if not line:
        raise SystemExit("A version ended early; what it said is above.")
    return line


def answer(data: str, sentences: int | None) -> None:
    """In the process of one version: do what is asked for, and say how many seconds it took."""
    warnings.simplefilter("ignore")
    work = make_work(Path(data), sentences)
    for each in work.values():
        each()
    print("ready", flush=True)
    for line in sys.stdin:
        print(work[line.strip()](), flush=True)


def find(name: str) -> Any:
    """What has this name in the version at hand: in the first of its modules that there is."""
    for place in MODULES[name]:
        module, _, former_name = place.partition(":")
        if find_spec(module.rpartition(".")[0]) and find_spec(module):
            return getattr(import_module(module), former_name or name)
    raise SystemExit(f"This version has {name} in none of {', '.join(MODULES[name])}; add its module to MODULES.")


def make_work(data: Path, sentences: int | None) -> dict[str, Callable[[], float]]:
    import corpora

    from fastcrf import CRF
    from fastcrf.objective.problem import Problem
    from fastcrf.training.driver import minimize

    encode_training, make, limit = find("encode_training"), find("make"), find("limit")
    viterbi, build_feature_map = find("viterbi"), find("build_feature_map")
    X, y = (part[:sentences] for part in corpora.load(data, "conll2000"))
    test, _ = corpora.load(data, "conll2000", "test")
    test = test[:sentences]
    corpus, attributes, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(attributes), len(labels))
    problem = Problem(corpus, features, c2=1.0, n_jobs=1)
    weights = np.random.default_rng(0).normal(0.0, 0.1, problem.n_weights)
    crf = CRF("lbfgs", tol=None, max_iterations=8).fit(X[:2000], y[:2000])

    def epoch() -> float:
        trace = minimize(problem, make("sag-nus-star"), stop=[limit(7)]).trace
        return float(np.median(np.diff([row["seconds"] for row in trace])[-5:]))

    return {
        "gradient": lambda: median(lambda: problem.gradient(weights), 9),
        "epoch": epoch,
        "tag": lambda: median(lambda: crf.predict(test), 3),
        "decode": lambda: median(lambda: viterbi(corpus, features, weights), 7),
    }


def median(work: Callable[[], Any], times: int) -> float:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


if __name__ == "__main__":
    main()
