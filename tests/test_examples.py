"""Every example runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_without_a_warning(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "template"},  # draws nothing, without a warning
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_example_says_what_it_shows_and_how_to_run_it():
    for path in EXAMPLES:
        text = path.read_text()
        assert text.startswith('"""')
        assert f"python examples/{path.name}" in text
