"""The benchmark of convergence runs from end to end on a corpus that ships with fastcrf."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "convergence.py"


def test_the_benchmark_draws_its_figure_agrees_with_itself_and_costs_nothing_again(tmp_path):
    command = [sys.executable, str(BENCHMARK), "--sets", "digits", "--passes", "4", "--cache", str(tmp_path / "cache")]
    command += ["--figure", str(tmp_path / "curves.html"), "--rows", str(tmp_path / "rows.jsonl"), "--check"]
    first = subprocess.run(command, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    for words in ("c1=0, c2=0.5", "c1=1, c2=0.5", "owlqn skipped", "lbfgs skipped", "fresh evaluations"):
        assert words in first.stdout
    assert (tmp_path / "curves.html").stat().st_size > 10_000
    rows = (tmp_path / "rows.jsonl").read_text()
    second = subprocess.run(command, capture_output=True, text=True)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == first.stdout
    assert (tmp_path / "rows.jsonl").read_text() == rows
