"""The kernel decorator: its cache notices edits anywhere, and works or is done without wherever it is installed."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastcrf
from fastcrf.kernel import kernel, ordered_kernel, source_hash

CALLEE = """
from fastcrf.kernel import kernel

@kernel
def change(x):
    return x + 1
"""
CALLER = """
from fastcrf.kernel import kernel
from fastcrf.callee import change

@kernel
def change_twice(x):
    return change(change(x))
"""
RUN = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from fastcrf.caller import change_twice
    print(change_twice(10), sum(change_twice.stats.cache_hits.values()), len(caught))
    for warning in caught:
        print(warning.message)
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package, with two kernels in two files."""
    copy = tmp_path / "site" / "fastcrf"
    shutil.copytree(Path(fastcrf.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "callee.py").write_text(CALLEE)
    (copy / "caller.py").write_text(CALLER)
    return copy


def run(package, **environment):
    """(result, cache hits, number of warnings) and the warnings' lines of a fresh process."""
    keep = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**keep, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=package.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    numbers, *lines = done.stdout.splitlines()
    return tuple(map(int, numbers.split())), lines


def test_editing_a_callee_in_another_file_changes_its_caller(package, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(package, **cache) == ((12, 0, 0), [])
    assert run(package, **cache) == ((12, 1, 0), [])  # the second process compiles nothing
    (package / "callee.py").write_text(CALLEE.replace("x + 1", "x + 5"))
    assert run(package, **cache) == ((20, 0, 0), [])


def test_without_a_home_on_a_read_only_install_kernels_compile_with_one_warning(package, tmp_path):
    """No folder can be made below a file, whoever asks; root could write to any read-only folder."""
    wall = tmp_path / "wall"
    wall.write_text("a file, not a folder")
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        numbers, lines = run(package, **{name: str(wall / "cache")})
        assert numbers == (12, 0, 1)
        assert lines[0].startswith("fastcrf found no writable cache folder")
    assert not list(package.rglob("*.nbi"))


def test_the_hash_is_that_of_sources_with_kernels(package):
    before = source_hash(package)
    (package / "metrics.py").write_text("# no kernel here\n")
    assert source_hash(package) == before
    (package / "caller.py").write_text(CALLER + "\n")
    assert source_hash(package) != before


@pytest.mark.parametrize("decorator", [kernel, ordered_kernel])
def test_a_nan_stays_a_nan_and_a_division_by_zero_is_infinite(decorator):
    """Plain fast mathematics would assume that neither exists, and divergence could never be seen."""

    def probe(values):
        total = 0.0
        for value in values:
            total += 1.0 / value
        return total, np.isfinite(total), total == total

    compiled = decorator(probe)
    total, finite, equal = compiled(np.array([1.0, 0.0]))
    assert (total, finite, equal) == (math.inf, False, True)
    total, finite, equal = compiled(np.array([1.0, math.nan]))
    assert (math.isnan(total), finite, equal) == (True, False, False)
