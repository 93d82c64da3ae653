"""One pass over the data: how good is the model, and does a stream learn the same?

    python benchmarks/online.py pass                 after one pass, each solver against the converged model
    python benchmarks/online.py scopes               staggered-aitken with one step size, and with one for each weight
    python benchmarks/online.py chunks               partial_fit over 20 chunks; and broken off half-way
    python benchmarks/online.py killed               train --online over 20 chunks, killed three times and continued
    python benchmarks/online.py memory               a stream of 5 million positions
    python benchmarks/online.py time                 seconds a pass against sgd

F is that of segments (CoNLL's), in per cent, the mean over seeds of the order with the lowest and the highest. The
corpora are in the folder --data or $FASTCRF_DATA. Sizes of batches and estimates of gamma, which Yang & Lee (2012)
compare, are `fastcrf papers run yang2012`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from corpora import TASKS, data_folder, sentences

from fastcrf import CRF
from fastcrf.core.types import Corpus, Floats
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.lab.tables import table
from fastcrf.metrics import flat_accuracy_score, segment_scores
from fastcrf.model.model import Model
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.stopping import CertifiedGap, MaxIterations, Rule
from fastcrf.training.driver import minimize

CORPORA = ("conll2000", "jnlpba")
ONE_PASS = ("psa", "staggered-aitken", "sgd", "asg", "adagrad")
SCOPES = tuple({"scope": scope, "batch_size": batch} for scope in ("global", "component") for batch in (1, 5))


@dataclass
class Task:
    """A corpus with its features, or its first `sentences` with theirs, and a test set to score."""

    name: str
    sentences: int | None = None

    def __post_init__(self) -> None:
        pairs = load(self.name, subset="train", items=True, return_X_y=True)
        self.X, self.y = (list(side)[: self.sentences] for side in pairs)
        self.X_test, self.y_test = map(list, load(self.name, subset="test", items=True, return_X_y=True))
        self.corpus, attributes, self.labels = encode_training(self.X, self.y)
        self.features = build_feature_map(self.corpus, len(attributes), len(self.labels))
        self.test = Encoder(attributes).encode_labeled(self.X_test, self.y_test, self.labels)
        self.problem = Problem(self.corpus, self.features, c2=1.0)

    def score(self, weights: Floats, corpus: Corpus, gold: list[list[str]]) -> float:
        found = [self.labels[k] for k in viterbi(corpus, self.features, weights)]
        bounds = zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
        return 100.0 * segment_scores(gold, [found[first:last] for first, last in bounds]).overall.f1

    def test_score(self, weights: Floats) -> float:
        return self.score(weights, self.test, self.y_test)

    @cached_property
    def converged(self) -> float:
        """Test F of the model with a certified gap of 1e-4."""
        rules: list[Rule] = [CertifiedGap(1e-4), MaxIterations(1000)]
        return self.test_score(minimize(self.problem, registry.make("lbfgs"), stop=rules).weights)

    def after(self, name: str, seed: int, **options: Any) -> Iterator[tuple[float, Floats, dict[str, Any]]]:
        """(passes of the epoch, weights, info) after each Step of the first epoch."""
        solver = registry.make(name, seed=seed, **options)
        steps = solver.iterate(self.problem, np.zeros(self.problem.n_weights))  # type: ignore[arg-type]
        next(steps)
        for step in islice(steps, options.get("steps_per_epoch", 1)):
            yield step.passes, step.weights, dict(step.info)


def spread(numbers: list[float]) -> str:
    return f"{np.mean(numbers):.2f} ({min(numbers):.2f} to {max(numbers):.2f})"


def one_pass(tasks: list[Task], seeds: int) -> None:
    rows = []
    for task in tasks:
        for name in (name for name in ONE_PASS if name in registry.names()):
            runs = [next(task.after(name, seed)) for seed in range(seeds)]
            found = [task.test_score(weights) for _, weights, _ in runs]
            wrong = [100.0 * info["progressive_error"] for _, _, info in runs if "progressive_error" in info]
            spent = float(np.mean([passes for passes, _, _ in runs]))
            rows.append([task.name, name, f"{spent:.2f}", spread(found), f"{np.mean(wrong):.2f}" if wrong else ""])
        rows.append([task.name, "lbfgs, converged", "", f"{task.converged:.2f}", ""])
    print(table(["corpus", "solver", "passes spent", "test F after the first epoch", "progressive error %"], rows))


def scopes(tasks: list[Task], seeds: int) -> None:
    rows = []
    for options in SCOPES:
        row = [str(value) for value in options.values()]
        for task in tasks:
            runs = [next(task.after("staggered-aitken", seed, **options)) for seed in range(seeds)]
            row += [spread([task.test_score(weights) for _, weights, _ in runs]), f"{runs[0][2]['step_size']:.3f}"]
        rows.append(row)
    heads = [head for task in tasks for head in (f"test F, {task.name}", "last step size")]
    print(table(["scope", "batch_size", *heads], rows))


def chunks(tasks: list[Task], seeds: int) -> None:
    """Sentences in the order of how early their labels were met, so that labels turn up late, in 20 chunks."""
    rows = []
    for task in tasks:
        first: dict[str, int] = {}
        for label in (label for labels in task.y for label in labels):
            first[label] = first.get(label, 0) + 1
        rank = {label: k for k, label in enumerate(sorted(first, key=lambda label: -first[label]))}
        newest = [max(rank[label] for label in labels) for labels in task.y]
        half = len(task.y) // 2  # the first half holds the frequent labels alone, as far as there are such sentences
        order = np.argsort(newest, kind="stable")
        order = np.concatenate((order[:half], np.random.default_rng(0).permutation(order[half:])))
        shuffled = np.random.default_rng(1).permutation(len(task.y))
        for solver in ("psa", "staggered-aitken"):
            whole = learn(task, solver, [shuffled])[0]
            mixed = learn(task, solver, np.array_split(shuffled, 20))[0]
            late, labels = learn(task, solver, np.array_split(order, 20))
            same = "yes" if broken_off(task, solver, np.array_split(order, 20)) else "NO"
            scores = [
                100.0 * flat_accuracy_score(task.y_test, crf.predict(task.X_test)) for crf in (whole, mixed, late)
            ]
            rows.append(
                [task.name, solver, *(f"{score:.2f}" for score in scores), f"{labels[0]} to {labels[-1]}", same]
            )
    heads = [
        "accuracy, one pass on the whole",
        "20 chunks",
        "20 chunks, labels late",
        "labels",
        "broken off: same weights",
    ]
    print(table(["corpus", "solver", *heads], rows))


def learn(task: Task, solver: str, parts: list[np.ndarray], crf: CRF | None = None) -> tuple[CRF, list[int]]:
    crf = crf or CRF(solver)
    labels = []
    for part in parts:
        crf.partial_fit([task.X[i] for i in part], [task.y[i] for i in part], total_sequences=len(task.y))
        labels.append(crf.history_[-1]["labels"])
    return crf, labels


def broken_off(task: Task, solver: str, parts: list[np.ndarray]) -> bool:
    """Whether a stream that is saved half-way and goes on from the file ends with the same weights."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stream")
        learn(task, solver, parts[:3])[0].save_stream(path)
        resumed, _ = learn(task, solver, parts[3:6], CRF.load_stream(path))
    straight, _ = learn(task, solver, parts[:6])
    return np.array_equal(straight.model_.weights, resumed.model_.weights)


def killed(name: str) -> None:
    """The command line over 20 chunks, straight on, and with SIGKILL after chunks 3, 8 and 15."""
    source = str(data_folder(None) / name / "train.txt.gz")
    with tempfile.TemporaryDirectory() as folder:
        models = {how: os.path.join(folder, how) for how in ("straight", "killed")}
        n, _ = follow(source, models["straight"], [], None)
        state = ["--checkpoint", os.path.join(folder, "state"), "--checkpoint-every", "0", "--resume"]
        done = 0
        for stop in (3, 8, 15, None):
            learnt, code = follow(source, models["killed"], state, None if stop is None else stop - done)
            done += learnt
            print(f"{learnt} chunks, then {'the end' if code == 0 else f'signal {-code}'}", flush=True)
        one, other = (Model.load(path) for path in models.values())
    same = one.labels == other.labels and np.array_equal(one.weights, other.weights)
    print(f"{n} chunks of {name} straight on, {len(one.weights):,} weights: {'the same' if same else 'NOT the same'}")


def follow(source: str, model: str, options: list[str], stop: int | None) -> tuple[int, int]:
    """(chunks learnt, exit code) of a run that is killed after `stop` chunks."""
    command = [
        "-m",
        "fastcrf",
        "train",
        source,
        "-m",
        model,
        "-t",
        "crfsuite-chunking",
        "--online",
        "--chunk-size",
        "447",
    ]
    chunks = 0
    with subprocess.Popen([sys.executable, *command, *options], stderr=subprocess.PIPE, text=True) as run:
        for line in run.stderr or ():
            chunks += " labels, " in line
            if chunks == stop:
                run.kill()
                break
    return chunks, run.returncode


def state(positions: int) -> None:
    """Peak memory and number of weights while a stream goes by."""
    pairs = sentences(data_folder(None), TASKS["gutenberg-seg"]._replace(positions=None), "train")
    crf, rows, seen, mark = CRF("psa"), [], 0, 0
    while seen < positions and (chunk := list(islice(pairs, 2000))):
        crf.partial_fit(*map(list, zip(*chunk, strict=True)))
        seen += sum(len(labels) for _, labels in chunk)
        del chunk  # before the next is read
        if seen >= mark or seen >= positions:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            last = crf.history_[-1]
            error = 100.0 * last["progressive_error"]
            rows.append([f"{seen:,}", f"{last['weights']:,}", f"{peak:.0f}", f"{error:.2f}"])
            print(*rows[-1], flush=True)
            mark += positions // 10
    print(table(["positions", "weights", "peak MB", "progressive error of the last chunk %"], rows))


def seconds(tasks: list[Task]) -> None:
    rows = []
    for task in tasks:
        solvers: dict[str, dict[str, Any]] = {
            "sgd": {"eta": 0.1},
            "psa": {},
            "psa, batch 10": {"batch_size": 10},
            "staggered-aitken": {},
        }
        runs, best = {}, dict.fromkeys(solvers, float("inf"))
        for name, options in solvers.items():
            runs[name] = registry.make(name.split(",")[0], **options).iterate(
                task.problem, np.zeros(task.problem.n_weights)
            )
            list(islice(runs[name], 2))
        for _ in range(5):
            for name, steps in runs.items():
                began = time.process_time()
                next(steps)
                best[name] = min(best[name], time.process_time() - began)
        rows += [[task.name, name, f"{best[name]:.3f}", f"{best[name] / best['sgd']:.2f}"] for name in runs]
    print(table(["corpus", "solver", "CPU seconds a pass, best of 5", "times sgd"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["pass", "scopes", "chunks", "killed", "memory", "time"])
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--positions", type=int, default=5_000_000)
    given = parser.parse_args()
    if given.data:
        os.environ["FASTCRF_DATA"] = given.data
    if given.part == "memory":
        state(given.positions)
        return
    if given.part == "killed":
        killed(given.corpora[0])
        return
    tasks = [Task(name) for name in given.corpora]
    if given.part == "time":
        seconds(tasks)
        return
    {"pass": one_pass, "scopes": scopes, "chunks": chunks}[given.part](tasks, given.seeds)


if __name__ == "__main__":
    main()
