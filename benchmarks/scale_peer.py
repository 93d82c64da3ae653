"""CRFsuite and fastcrf on the same sentences, each in a process of its own: what a gap takes, and memory.

Items are read from the file and handed over one by one, so that neither process holds more than it wants to.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import corpora

from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap
from fastcrf.training.driver import minimize
from fastcrf.training.warm_up import warm_up

NOTE = "FASTCRF_BENCHMARK "
KNOWN_TO = 1e-5  # how well the optimum is known


def sentences(data: str, name: str, positions: int | None) -> Iterator[tuple[list[list[str]], list[str]]]:
    task = corpora.TASKS[name]._replace(positions=positions)
    return corpora.sentences(Path(data), task, task.train)


def fastcrf_to(data: str, name: str, positions: int | None, c2: float, gap: float, jobs: int) -> dict[str, Any]:
    """`auto` until it is certified within KNOWN_TO, and when it was within `gap` of what it ended with."""
    began = time.process_time()
    forms, golds = tee(sentences(data, name, positions))
    corpus, attributes, labels = encode_training((X for X, _ in forms), (y for _, y in golds))
    problem = Problem(corpus, build_feature_map(corpus, len(attributes), len(labels)), 0.0, c2, n_jobs=jobs)
    read = time.process_time() - began
    solver = make("auto")
    warm_up(problem, solver)
    began, curve = time.process_time(), []
    result = minimize(
        problem,
        solver,
        stop=[CertifiedGap(KNOWN_TO)],
        callbacks=[
            lambda row: curve.append((row["objective"], row["passes"], row["seconds"], time.process_time() - began))
        ],
    )
    optimum = result.certificate.objective
    objective, passes, seconds, processor = next(
        row for row in curve if row[0] is not None and row[0] <= (1 + gap) * optimum
    )
    return {
        "positions": corpus.n_positions, "labels": len(labels), "weights": problem.n_weights, "optimum": optimum,
        "known_to": result.certificate.relative_gap, "reading": read, "objective": objective, "passes": passes,
        "seconds": seconds, "processor": processor,
    }  # fmt: skip


def crfsuite_to(data: str, name: str, positions: int | None, c2: float, target: float) -> dict[str, Any]:
    """CRFsuite's L-BFGS until its loss is as low as `target`; the process ends there, in mid-training."""
    import peer

    began = time.process_time()
    spent: dict[str, float] = {}

    class Watched(peer.Recorder):
        def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
            self.rows.append(info)
            if info["loss"] <= target:
                found = {
                    "reading": spent["reading"],
                    "objective": info["loss"],
                    "iterations": len(self.rows),
                    "evaluations": sum(row["linesearch_trials"] for row in self.rows),
                    "seconds": sum(float(row["time"]) for row in self.rows),
                    "processor": time.process_time() - began - spent["reading"],
                }
                print(NOTE + json.dumps(found), flush=True)
                os._exit(0)

    trainer = Watched("lbfgs", {"c1": 0.0, "c2": c2, "delta": 1e-7}, verbose=True)
    for items, labels in sentences(data, name, positions):
        trainer.append(items, labels)
    spent["reading"] = time.process_time() - began
    trainer.train("")
    raise SystemExit("CRFsuite ended before it was there.")
