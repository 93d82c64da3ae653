"""What a user waits for: the first `fit` of a fresh process, beside CRFsuite's way to the same objective.

    FASTCRF_DATA=folder python benchmarks/fresh_fit.py [--cases usaddress:0:0.1,...] [--repeats 3] [--alone] [--json]

A case is set:c1:c2. Ours is `CRF(c1=, c2=).fit(X, y)` of a process that has done nothing but import and read: wall
seconds with encoding, loading of compiled code, training and the certificate of its end. An uncounted run before it
fills the cache of compiled code. CRFsuite, in a process of its own, appends the same items and trains (L-BFGS, delta =
1e-7): wall seconds until its objective is as low as that of our model, and until it stops by its own rule if that is
earlier. Of --repeats runs of ours the median counts. --alone leaves CRFsuite out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from statistics import median
from typing import Any

CASES = "usaddress:0:0.1,usaddress:0.1:0.1,conll2000:0:1"


def items_of(name: str) -> tuple[Any, Any]:
    from fastcrf.data.datasets.known_sets import KNOWN_SETS
    from fastcrf.data.datasets.loaders import load

    return load(name, subset=next(iter(KNOWN_SETS[name].parts)), items=True, return_X_y=True)


def ours(name: str, c1: float, c2: float) -> dict[str, float]:
    from fastcrf import CRF

    X, y = items_of(name)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fit that ends without its certificate is no result
        crf = CRF(c1=c1, c2=c2, n_jobs=2).fit(X, y)
    return {"seconds": time.perf_counter() - began, "objective": crf.history_[-1]["objective"]}


def theirs(name: str, c1: float, c2: float, target: float) -> dict[str, float]:
    """Ends the process as soon as the objective is there."""
    import peer

    X, y = items_of(name)
    began = time.perf_counter()

    class Watched(peer.Recorder):
        def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
            if info["loss"] <= target:
                print(json.dumps({"seconds": time.perf_counter() - began, "objective": info["loss"]}), flush=True)
                os._exit(0)

    trainer = Watched("lbfgs", {"c1": c1, "c2": c2, "delta": 1e-7}, verbose=True)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.train("")
    return {"seconds": time.perf_counter() - began, "objective": float("nan")}


def in_a_process(*arguments: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def figures_of(case: str, repeats: int, alone: bool) -> dict[str, Any]:
    name, c1, c2 = case.split(":")
    in_a_process("ours", name, c1, c2)
    fits = [in_a_process("ours", name, c1, c2) for _ in range(repeats)]
    figures: dict[str, Any] = {
        "case": case,
        "fit": median(fit["seconds"] for fit in fits),
        "objective": fits[0]["objective"],
    }
    if alone:
        return figures
    found = in_a_process("theirs", name, c1, c2, repr(figures["objective"]))
    there = found["objective"] == found["objective"]
    return {**figures, "crfsuite": found["seconds"], "there": there, "ratio": found["seconds"] / figures["fit"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        side, name, *numbers = given.child
        run: Any = {"ours": ours, "theirs": theirs}[side]
        print(json.dumps(run(name, *map(float, numbers))))
        return
    rows = [figures_of(case, given.repeats, given.alone) for case in given.cases.split(",")]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print("| case | first fit s | CRFsuite s | ratio |")
    print("|---|--:|--:|--:|")
    for row in rows:
        peers = "- | -" if given.alone else f"{row['crfsuite']:.2f} | {'' if row['there'] else '> '}{row['ratio']:.1f}"
        print(f"| {row['case']} | {row['fit']:.2f} | {peers} |")


if __name__ == "__main__":
    main()
