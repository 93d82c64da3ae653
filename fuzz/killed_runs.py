"""Train, kill at a random moment, resume, until the run ends: the model must be that of a run that nobody killed.

python -m fuzz.killed_runs --cycles 200
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fastcrf.data.model_file import container
from fuzz.campaign import ROOT

SOLVERS = ("lbfgs", "owlqn", "sgd", "sag-nus-star", "svrg", "l2sgd", "saga", "accelerated-gradient")
TRAIN = ("--quiet", "--n-jobs", "1", "--checkpoint-every", "0", "--tol", "1e-13")


def command(solver: str, data: Path, model: Path, steps: int) -> list[str]:
    penalty = ["--c1", "0.1"] if solver == "owlqn" else []
    arguments = ["train", str(data), "-m", str(model), "-a", solver, "--max-iterations", str(steps), *penalty]
    return [sys.executable, "-W", "ignore", "-m", "fastcrf", *arguments, *TRAIN]


def column_file(path: Path, rng: random.Random) -> Path:
    words = [f"w{i}" for i in range(300)]
    lines = []
    for _ in range(400):
        lines += [f"{word} {'ABC'[len(set(word)) % 3]}" for word in rng.choices(words, k=rng.randint(1, 12))]
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


def weights_of(path: Path) -> bytes:
    return container.from_bytes(container.read(path))[0]["weights"].tobytes()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.killed_runs")
    parser.add_argument("--cycles", type=int, default=200, help="kills, over all solvers")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, kills, runs, different, leftovers = random.Random(options.seed), 0, 0, 0, 0
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, whole = column_file(folder / "train.txt", rng), {}
        while kills < options.cycles and time.monotonic() < end:
            solver = SOLVERS[runs % len(SOLVERS)]
            if solver not in whole:
                for _ in range(2):  # the first may wait for the compiler
                    began = time.monotonic()
                    subprocess.run(command(solver, data, folder / "whole", options.steps), env=environment, check=True)
                whole[solver] = weights_of(folder / "whole"), time.monotonic() - began
            right, seconds = whole[solver]
            killed = [*command(solver, data, folder / "model", options.steps), "--checkpoint", str(folder / "state")]
            for path in (folder / "state", folder / "model"):
                path.unlink(missing_ok=True)
            kills += kill_until_done([*killed, "--resume"], environment, seconds, rng)
            runs += 1
            different += weights_of(folder / "model") != right
            leftovers += len(list(folder.glob(".*.part")))
            print(f"{runs} runs, {kills} kills, {different} different, {leftovers} parts left behind", flush=True)
    return 1 if different or leftovers else 0


def kill_until_done(command: list[str], environment: dict[str, str], seconds: float, rng: random.Random) -> int:
    """Start, kill, and start again until a run ends by itself; returns the number of kills."""
    kills = 0
    while True:
        with subprocess.Popen(command, env=environment) as process:
            try:
                process.wait(rng.uniform(0.3 * seconds, 1.1 * seconds) if kills < 6 else None)
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
                continue
        if process.returncode:
            raise SystemExit(f"The run ended with {process.returncode}: {' '.join(command)}")
        return kills


if __name__ == "__main__":
    sys.exit(main())
