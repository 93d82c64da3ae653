"""Rows as the lab writes them, made up: two problems, three solvers, of which one was skipped and one has two seeds."""

from __future__ import annotations


def run(problem, solver, seed, gaps, seconds_a_pass=0.1, status="out of passes", accuracy=1e-7, cpu_share=1.0):
    """The rows of one run with these distances to the optimum, one pass a step."""
    return [
        {
            "objective_key": problem, "run": f"{problem}-{solver}-{seed}", "dataset": problem, "c1": 0.0, "c2": 0.5,
            "sequences": 40, "positions": 200, "labels": 3, "weights": 90, "solver": solver, "seed": seed,
            "status": status, "reason": f"{solver} </script> ended.", "step": step, "passes": float(step),
            "seconds": seconds_a_pass * step, "objective": 10.0 * (1 + gap), "suboptimality": gap,
            "error": 0.05 + gap / 10, "active": 90.0 - step, "state_mb": 1.5, "peak_mb": 3.0,
            "optimum": 10.0, "accuracy": accuracy, "cpu_share": cpu_share,
        }
        for step, gap in enumerate(gaps)
    ]  # fmt: skip


def skipped(problem, solver):
    (row,) = run(problem, solver, None, [0.0], status="skipped")
    nothing = ("step", "passes", "seconds", "objective", "suboptimality", "error", "active", "state_mb", "peak_mb")
    return [row | dict.fromkeys(nothing)]


def lab_rows():
    return [
        *run("one", "quick", 0, [1.0, 0.05, 0.005, 5e-5]),
        *run("one", "quick", 1, [1.0, 0.2, 0.05, 5e-4]),
        *run("one", "steady", None, [1.0, 0.5, 0.09, 0.009, 9e-4, 0.0], seconds_a_pass=0.01),
        *skipped("one", "picky"),
        *run("two", "steady", None, [1.0, 0.005, 0.005], accuracy=0.01),
    ]
