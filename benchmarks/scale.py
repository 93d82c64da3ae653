"""What training costs as data grow: seconds and memory against positions, labels, features, threads and workers.

    python benchmarks/scale.py mapped    [--data DIR] [--copies 10] [--iterations 5]
    python benchmarks/scale.py growth    [--positions 10000,100000,1000000]
    python benchmarks/scale.py labels    [--labels 4,16,64,256,400]
    python benchmarks/scale.py features  [--features 100000,1000000,10000000,200000000]
    python benchmarks/scale.py threads   [--threads 1,2]
    python benchmarks/scale.py rounds    [--sets conll2000] [--shards 4,16] [--epochs 1,5] [--first 60000]
    python benchmarks/scale.py workers   [--sets brown-base,conll2000] [--all-states]
    python benchmarks/scale.py peer      [--sets brown-base] [--first 200000]

Each run is a process of its own. Memory is the peak of its anonymous memory (RssAnon, looked at every 20 ms): pages
of mapped files do not count, because the system takes them back when it needs them. Seconds are those of the fastest
gradient, as others may be at work on the machine. --rows keeps the figures for scale_plot.py; corpora that were encoded
into --scratch are used again.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import tee
from pathlib import Path
from typing import Any

import corpora
import numpy as np
from scale_peer import NOTE, crfsuite_to, fastcrf_to

from fastcrf import open_corpus
from fastcrf.core.types import Corpus
from fastcrf.data.corpus_file.container import read
from fastcrf.data.corpus_file.container import write as write_container
from fastcrf.data.corpus_file.writing import Spools, write_corpus
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxPasses
from fastcrf.training.driver import minimize

POSITIONS_BY_LABELS = 2_000_000  # over the number of labels: as many positions as a fraction of a second takes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", choices=["mapped", "growth", "labels", "features", "threads", "workers", "rounds", "peer", "child"]
    )
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--scratch", help="folder in which encoded corpora stay (default: one that is removed)")
    parser.add_argument("--rows", help="file to which the figures are added, as JSON lines")
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--positions", default="10000,100000,1000000")
    parser.add_argument("--labels", default="4,16,64,256,400")
    parser.add_argument("--features", default="100000,1000000,10000000,200000000")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--sets", default="brown-base")
    parser.add_argument("--shards", default="4,16")
    parser.add_argument("--epochs", default="1,5")
    parser.add_argument("--first", type=int, help="positions of a corpus that are used (default: all)")
    parser.add_argument("--all-states", action="store_true", help="a weight for each attribute with each label")
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--work", help="(of a child) what to do, as JSON")
    arguments = parser.parse_args()
    if arguments.what == "child":
        work = json.loads(arguments.work)
        print(NOTE + json.dumps(CHILDREN[work.pop("do")](**work)))
        return
    with tempfile.TemporaryDirectory() as folder:
        KINDS[arguments.what](arguments, Path(arguments.scratch or folder))


def mapped(arguments: argparse.Namespace, folder: Path) -> None:
    """gutenberg-seg once and many times over, encoded, and then trained on with lbfgs."""
    once, often = folder / "once.fcc", folder / "often.fcc"
    data = str(corpora.data_folder(arguments.data))
    for positions in (500_000, None):
        show(f"encode {positions or 'all'}", run(do="encode", data=data, path=str(once), positions=positions))
    repeat(once, often, arguments.copies)
    for name, path in (("once", once), (f"x {arguments.copies}", often)):
        show(f"lbfgs {name}", run(do="train", path=str(path), iterations=arguments.iterations, jobs=arguments.jobs))


def growth(arguments: argparse.Namespace, folder: Path) -> None:
    sizes, found = numbers(arguments.positions), []
    for n in sizes:
        found.append(run(do="synthetic", positions=n, labels=16, attributes=50_000, jobs=arguments.jobs))
        show(f"{n:,} positions", found[-1])
        keep(arguments, n, found[-1])
    print("slope of seconds:", slope(sizes, [each["seconds"] for each in found]))


def labels(arguments: argparse.Namespace, folder: Path) -> None:
    sizes, found = numbers(arguments.labels), []
    for k in sizes:
        positions = max(POSITIONS_BY_LABELS // k, 4000)
        found.append(run(do="synthetic", positions=positions, labels=k, attributes=2_000, jobs=arguments.jobs))
        show(f"{k} labels", found[-1])
        keep(arguments, k, found[-1])
    print("slope of a position, last two:", slope(sizes[-2:], [each["ns_per_position"] for each in found[-2:]]))


def features(arguments: argparse.Namespace, folder: Path) -> None:
    sizes, found = numbers(arguments.features), []
    for n in sizes:
        found.append(
            run(
                do="synthetic", positions=2_000_000, labels=10, attributes=n // 10, jobs=arguments.jobs, all_states=True
            )
        )
        show(f"{n:,} features asked for", found[-1])
        keep(arguments, found[-1]["weights"], found[-1])
    print("slope of seconds:", slope([each["weights"] for each in found], [each["seconds"] for each in found]))


def threads(arguments: argparse.Namespace, folder: Path) -> None:
    sizes = numbers(arguments.threads)
    for n in sizes:
        show(f"{n} threads", run(do="synthetic", positions=200_000, labels=40, attributes=50_000, jobs=n))


def workers(arguments: argparse.Namespace, folder: Path) -> None:
    """Two Dask workers of one thread against one process of two threads, in turns, on the same encoded corpus."""
    data = str(corpora.data_folder(arguments.data))
    for name in arguments.sets.split(","):
        path = str(folder / f"{name}-{arguments.first or 'all'}.fcc")
        if not Path(path).exists():
            show(f"encode {name}", run(do="encode", data=data, path=path, positions=arguments.first, name=name))
        compared = run(do="compare", path=path, all_states=arguments.all_states, repeats=arguments.repeats)
        show(f"two workers, {name}", compared)


def compare(path: str, all_states: bool, repeats: int) -> dict[str, Any]:
    from fastcrf.cluster.connection import connected
    from fastcrf.cluster.placement import from_encoded
    from fastcrf.cluster.problem import ClusterProblem
    from fastcrf.cluster.shard import gradient_of

    encoded = open_corpus(path)
    options = {"all_states": all_states}
    chosen = build_feature_map(encoded.corpus, len(encoded.attributes), len(encoded.labels), **options)
    here = Problem(encoded.corpus, chosen, 0.0, 1.0, 2)
    weights = np.random.default_rng(0).normal(size=here.n_weights) * 0.01
    spent: dict[str, list[float]] = {}

    def timed(name: str, work: Any) -> Any:
        began = time.perf_counter()
        found = work()
        spent.setdefault(name, []).append(time.perf_counter() - began)
        return found

    with connected("local:2") as client:
        there = ClusterProblem(client, from_encoded(encoded), 2, options, 0.0, 1.0)
        there.gradient(weights)
        difference = abs(there.gradient(weights)[0] - here.gradient(weights)[0])
        for _ in range(repeats):
            value = timed("process", lambda: here.gradient(weights)[0])
            timed("workers", lambda: there.gradient(weights))
            placed = timed("send", lambda: client.scatter(weights, broadcast=True, hash=False))
            parts = [client.submit(seconds_of, gradient_of, shard, placed, pure=False) for shard in there.shards]
            spent.setdefault("compute", []).append(max(client.gather(parts)))
            whole = client.submit(np.array, placed, pure=False)
            client.submit(len, whole, pure=False).result()
            timed("receive", whole.result)
            timed("latency", client.submit(len, (), pure=False).result)
    best = {name: min(each) for name, each in spent.items()}
    return {
        "positions": encoded.corpus.n_positions,
        "weights": here.n_weights,
        **best,
        "ratio": best["workers"] / best["process"],
        "relative_difference": difference / abs(value),
    }


def rounds(arguments: argparse.Namespace, folder: Path) -> None:
    """lbfgs from 0 and from the mean of shards that learnt alone: a simulation in one process, which counts rounds."""
    data = str(corpora.data_folder(arguments.data))
    for name in arguments.sets.split(","):
        path = str(folder / f"{name}.fcc")
        run(do="encode", data=data, path=path, positions=arguments.first, name=name)
        lists = {"shards": numbers(arguments.shards), "epochs": numbers(arguments.epochs)}
        for row in run(do="count_rounds", path=path, jobs=arguments.jobs, **lists)["rows"]:
            show(name, row)


def count_rounds(path: str, shards: list[int], epochs: list[int], jobs: int) -> dict[str, Any]:
    from fastcrf.cluster.local_learning import add_both, learn_alone, mean
    from fastcrf.cluster.placement import even_bounds
    from fastcrf.cluster.shard import Shard
    from fastcrf.cluster.sums import by_tree

    encoded = open_corpus(path)
    corpus = encoded.corpus
    chosen = build_feature_map(corpus, len(encoded.attributes), len(encoded.labels))
    problem = Problem(corpus, chosen, 0.0, 0.5, jobs)
    starts: dict[str, tuple[int, Any]] = {"from 0": (0, None)}
    for m in shards:
        parts = [Shard(corpus.slice_of(*ends), chosen) for ends in even_bounds(corpus, m)]
        for n in epochs:
            learnt = [learn_alone(part, problem.c2 / m, n, seed=0) for part in parts]
            starts[f"{m} shards, {n} epochs alone"] = (2, mean(by_tree(learnt, add_both)))
    runs = {}
    for name, (before, start) in starts.items():
        result = minimize(problem, make("lbfgs"), start, stop=[CertifiedGap(1e-5), MaxPasses(200)])
        runs[name] = before, result
    lowest = max(result.certificate.lower_bound for _, result in runs.values())  # of F*, proved
    rows = []
    for name, (before, result) in runs.items():
        gaps = [(row["passes"], row["objective"] / lowest - 1.0) for row in result.trace]
        row: dict[str, Any] = {"start": name, "first_gap": gaps[0][1]}
        for goal in (1e-1, 1e-2, 1e-3, 1e-4):
            reached = next((passes for passes, gap in gaps if gap <= goal), None)
            row[f"rounds_to_{goal:g}"] = None if reached is None else before + int(reached)
        rows.append({**row, "mb_a_round": 16e-6 * problem.n_weights})
    return {"rows": rows}


def against_peer(arguments: argparse.Namespace, folder: Path) -> None:
    """CRFsuite and `auto` to a gap of 1e-3, at c2 = 1."""
    gap = 1e-3
    for name in arguments.sets.split(","):
        same = {"data": str(corpora.data_folder(arguments.data)), "name": name, "positions": arguments.first, "c2": 1.0}
        ours = run(do="fastcrf_to", gap=gap, jobs=arguments.jobs, **same)
        show(f"auto, {name}", ours)
        show(f"CRFsuite, {name}", run(do="crfsuite_to", target=(1 + gap) * ours["optimum"], **same))


def seconds_of(function: Any, *arguments: Any) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def encode(data: str, path: str, positions: int | None, name: str = "gutenberg-seg") -> dict[str, Any]:
    """A corpus, or as much of it, into a file."""
    task = corpora.TASKS[name]._replace(positions=positions)
    forms, golds = tee(corpora.sentences(Path(data), task, task.train))  # read in step
    began = time.perf_counter()
    written = write_corpus(path, [((X for X, _ in forms), (y for _, y in golds))])
    return {**written._asdict(), "seconds": time.perf_counter() - began}


def repeat(once: Path, often: Path, copies: int) -> None:
    """A corpus file that holds another so many times: what encoding as many files of the same data gives."""
    arrays, header = read(once)
    corpus = Corpus(*(arrays.pop(name) for name in Corpus._fields))
    spools = Spools(often.parent)
    for _ in range(copies):
        for part in corpus.slices():
            spools.add(part)
    write_container(often, spools.complete(arrays), header)
    spools.close()


def train(path: str, iterations: int, jobs: int) -> dict[str, Any]:
    """A few steps of lbfgs on a mapped corpus."""
    began = time.perf_counter()
    encoded = open_corpus(path)
    opened = time.perf_counter() - began
    chosen = build_feature_map(encoded.corpus, len(encoded.attributes), len(encoded.labels))
    problem = Problem(encoded.corpus, chosen, 0.0, 1.0, jobs)
    prepared = time.perf_counter() - began - opened
    solver, seconds, last = make("lbfgs"), [], 0.0
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    for _ in range(iterations + 1):
        began = time.perf_counter()
        step = next(steps)
        seconds.append((time.perf_counter() - began) / max(1.0, step.passes))
        last = float(step.objective or math.nan)
    positions = encoded.corpus.n_positions
    return {
        "positions": positions,
        "weights": problem.n_weights,
        "pairs": solver.pairs,  # type: ignore[attr-defined]
        "opened": opened,
        "prepared": prepared,
        "seconds": min(seconds),
        "all_seconds": [round(each, 2) for each in seconds],
        "ns_per_position": 1e9 * min(seconds) / positions,
        "model_gb": problem.n_weights * 8e-9,
        "objective": last,
    }


def synthetic(positions: int, labels: int, attributes: int, jobs: int, all_states: bool = False) -> dict[str, Any]:
    """The gradient on random sequences of 20 positions with 10 attributes each."""
    rng = np.random.default_rng(0)
    n, per_item = positions // 20, 10
    drawn = (rng.random(20 * n * per_item) ** 2 * attributes).astype(np.int32)
    corpus = Corpus(
        starts=np.arange(n + 1) * 20,
        offsets=np.arange(20 * n + 1) * per_item,
        attributes=drawn,
        values=np.empty(0),
        labels=rng.integers(0, labels, 20 * n).astype(np.int32),
        weights=np.empty(0),
    )
    chosen = build_feature_map(corpus, attributes, labels, all_states=all_states)
    problem = Problem(corpus, chosen, 0.0, 1.0, jobs)
    weights, seconds = np.zeros(problem.n_weights), []
    for _ in range(4):
        began = time.perf_counter()
        problem.gradient(weights)
        seconds.append(time.perf_counter() - began)
    best = min(seconds)
    return {"weights": problem.n_weights, "seconds": best, "ns_per_position": 1e9 * best / positions}


CHILDREN: dict[str, Callable[..., Any]] = {
    "encode": encode,
    "train": train,
    "synthetic": synthetic,
    "compare": compare,
    "count_rounds": count_rounds,
}
CHILDREN |= {"fastcrf_to": fastcrf_to, "crfsuite_to": crfsuite_to}
KINDS = {
    "mapped": mapped,
    "growth": growth,
    "labels": labels,
    "features": features,
    "threads": threads,
    "workers": workers,
    "rounds": rounds,
    "peer": against_peer,
}


def run(**work: Any) -> dict[str, Any]:
    """Do it in a process of its own, and watch its memory."""
    command = [sys.executable, __file__, "child", "--work", json.dumps(work)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0]

    def watch() -> None:
        while child.poll() is None:
            peak[0] = max(peak[0], anonymous(child.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = child.communicate()
    watcher.join()
    if child.returncode:
        raise SystemExit(f"{work} failed.")
    (line,) = [line for line in output.splitlines() if line.startswith(NOTE)]
    return {**json.loads(line.removeprefix(NOTE)), "peak_gb": peak[0] / 1e9}


def anonymous(pid: int) -> int:
    """Bytes of anonymous memory of a process now; 0 where nobody can tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def slope(sizes: list[int], seconds: list[float]) -> str:
    """Of seconds against size, both as logarithms."""
    return f"{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}" if len(sizes) > 1 else "-"


def keep(arguments: argparse.Namespace, size: int, outcome: dict[str, Any]) -> None:
    """Add figures to the file of --rows, if there is one."""
    if arguments.rows:
        with open(arguments.rows, "a") as file:
            print(json.dumps({"what": arguments.what, "size": size, **outcome}), file=file)


def show(name: str, outcome: dict[str, Any]) -> None:
    shown = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in outcome.items()}
    print(f"{name:28}", "  ".join(f"{key} {value}" for key, value in shown.items()), flush=True)


if __name__ == "__main__":
    main()
