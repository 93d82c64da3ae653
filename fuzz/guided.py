"""Coverage-guided fuzzing of what reads text, by Atheris (libFuzzer over Python's own branches)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.campaign import ROOT

GUIDED = ("columns", "items", "templates", "models", "regular-expressions")

WORKER = """
import sys, atheris
from pathlib import Path
with atheris.instrument_imports(include=["fastcrf.data"]):
    from fuzz import guided_inputs
name, folder = sys.argv[1:3]
use = guided_inputs.USES[name]
seeds = Path(folder)
for i, data in enumerate(guided_inputs.SEEDS[name]()):
    (seeds / f"seed-{i}").write_bytes(data)
atheris.Setup([sys.argv[0], *sys.argv[3:], folder], lambda data: guided_inputs.judge(use, data))
atheris.Fuzz()
"""


def fuzz_guided(targets: list[str], minutes: float, seed: int) -> int:
    """Each target for its share of the time; libFuzzer's last lines say how many inputs there were."""
    worst = 0
    for target in targets:
        with tempfile.TemporaryDirectory() as folder:
            limits = [f"-max_total_time={int(60 * minutes / len(targets))}", f"-seed={seed + 1}", "-timeout=20"]
            command = [sys.executable, "-c", WORKER, target, folder, *limits, "-max_len=8192", "-print_final_stats=1"]
            environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "NUMBA_DISABLE_JIT": "1"}  # kernels are guides, too
            done = subprocess.run(
                command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
            )
            told = [line for line in done.stderr.splitlines() if "stat::number_of" in line or "cov:" in line]
            print(target, "ended with", done.returncode, *told[-2:], sep="  ", flush=True)
            if done.returncode:
                worst = 1
                print(done.stdout[-2000:], done.stderr[-4000:])
                for crash in Path(folder).glob("crash-*"):
                    print("the input was", crash.read_bytes()[:500])
    return worst
