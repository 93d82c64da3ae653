"""Tagging from many threads and processes at once, for minutes: same labels, flat memory.

python -m fuzz.load --minutes 10
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import threading
import time
from typing import Any

from fastcrf import CRF
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.model.model import Model

WORKERS = 8


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def keep_tagging(content: bytes, X: Any, right: Any, seconds: float, shared: Model | None = None) -> dict[str, float]:
    """Tag again and again, in calls of all kinds; count rounds, and answers that differ."""
    model = shared or Model.from_bytes(content)
    rounds = wrong = 0
    marginals = model.predict_marginals(X[:20])
    early = 0
    end, half = time.monotonic() + seconds, time.monotonic() + seconds / 4
    while time.monotonic() < end:
        wrong += model.predict(X) != right
        wrong += [model.predict_single(x) for x in X[:50]] != right[:50]
        wrong += model.predict_marginals(X[:20]) != marginals
        rounds += 1
        if not early and time.monotonic() > half:
            gc.collect()
            early = resident()
    gc.collect()
    return {"rounds": rounds, "wrong": wrong, "early": early, "late": resident()}


def in_threads(content: bytes, X: Any, right: Any, seconds: float) -> list[dict[str, float]]:
    """All threads share one model."""
    model, found = Model.from_bytes(content), []
    threads = [
        threading.Thread(target=lambda: found.append(keep_tagging(content, X, right, seconds, model)))
        for _ in range(WORKERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def in_processes(method: str, content: bytes, X: Any, right: Any, seconds: float) -> list[dict[str, float]]:
    context = multiprocessing.get_context(method)
    with context.Pool(WORKERS) as pool:
        return pool.starmap(keep_tagging, [(content, X, right, seconds)] * WORKERS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.load")
    parser.add_argument("--minutes", type=float, default=10.0, help="for threads, fork and spawn each")
    seconds = 60 * parser.parse_args().minutes
    tokens, y = make_addresses(300)
    X = [address_items(each) for each in tokens]
    crf = CRF(n_jobs=1, max_iterations=30, tol=1e-2).fit(X, y)
    content, right = crf.to_bytes(), crf.predict(X)
    ways = {
        "8 threads": lambda: in_threads(content, X, list(right), seconds),
        "8 processes, fork": lambda: in_processes("fork", content, X, list(right), seconds),
        "8 processes, spawn": lambda: in_processes("spawn", content, X, list(right), seconds),
    }
    print(f"{'':20}{'rounds':>8}{'wrong':>8}{'MB after 1/4':>14}{'MB at the end':>14}   of {seconds:.0f} s each")
    for name, work in ways.items():
        found = work()
        rounds, wrong = sum(each["rounds"] for each in found), sum(each["wrong"] for each in found)
        early, late = (max(each[when] for each in found) / 1e6 for when in ("early", "late"))
        print(f"{name:20}{rounds:>8,.0f}{wrong:>8,.0f}{early:>14.1f}{late:>14.1f}", flush=True)


if __name__ == "__main__":
    main()
