"""The tagger alone: the megabytes that it installs, and the seconds from process start to the labels of a sentence.

    python benchmarks/tagger.py [--repeat 9] [--model MODEL --data COLUMNS]

Installs packaging/tagger into a new environment in a temporary folder. The programs take turns; shown are medians of
the clock and of the processor, without the first round. --model and --data: also `fastcrf tag` of a model of yours.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
MODEL = REPOSITORY / "tests" / "fixtures" / "before_0.1.0" / "estimator.crf"
PACKAGES = ("numpy", "numpy.libs", "safetensors", "fastcrf")
LABEL = "import fastcrf; print(fastcrf.load({!r}).predict_single([{{'word': '31'}}]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--model")
    parser.add_argument("--data")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        binaries = Path(folder) / "bin"
        install = [binaries / "pip", "install", "--quiet", REPOSITORY / "packaging" / "tagger"]
        subprocess.run([str(word) for word in install], check=True, env=plain_environment())
        [site] = Path(folder).glob("lib/python*/site-packages")
        print(f"installed: {sum(size_of(site / name) for name in PACKAGES) / 1e6:.0f} MB")
        programs = {
            "import numpy": [binaries / "python", "-c", "import numpy"],
            "fastcrf.load and predict_single": [binaries / "python", "-c", LABEL.format(str(MODEL))],
        }
        if options.model:
            programs["fastcrf tag"] = [binaries / "fastcrf", "tag", options.data, "-m", options.model]
        costs = [[cost(program) for program in programs.values()] for _ in range(options.repeat + 1)][1:]
        for name, each in zip(programs, zip(*costs, strict=True), strict=True):
            clock, processor = (statistics.median(column) for column in zip(*each, strict=True))
            print(f"{name:36}{clock:8.3f} s{processor:8.3f} s of CPU time")


def plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def size_of(path: Path) -> int:
    """Return the bytes of a folder, with the byte code that pip compiles."""
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def cost(program: Sequence[object]) -> tuple[float, float]:
    """Return the seconds of a process on the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(word) for word in program], check=True, stdout=subprocess.DEVNULL, env=plain_environment())
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
