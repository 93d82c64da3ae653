"""A small corpus on disk, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fastcrf
from fastcrf.cli.main import app

DATA = "the DT B\ndog NN I\nsees VB O\n\na DT B\ncat NN I\n\n" * 6


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(DATA)
    return path


@pytest.fixture
def run():
    """Run `fastcrf` in this process; the result has exit_code, stdout and stderr."""
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments], prog_name="fastcrf")


@pytest.fixture
def shell():
    """Run a line of shell in which fastcrf is the command; returns (exit code, standard error)."""
    environment = {**os.environ, "PYTHONPATH": str(Path(fastcrf.__file__).parents[1]), "PYTHON": sys.executable}

    def call(line, **options):
        function = 'fastcrf() { "$PYTHON" -m fastcrf "$@"; }\n'
        done = subprocess.run(
            ["bash", "-c", function + line], env=environment, capture_output=True, text=True, check=False, **options
        )
        return done.returncode, done.stderr

    return call
