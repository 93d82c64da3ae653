"""The kernel cache heals itself: damaged files are compiled again, unwritable ones cost time and one warning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fastcrf
from fastcrf.jit.kernel import MODE

pytestmark = pytest.mark.skipif(not MODE.__name__.endswith("tuned"), reason="in the plain mode the cache is Numba's")

KERNEL = """
from fastcrf.jit.kernel import kernel

@kernel
def twice(x):
    return 2 * x
"""
RUN = "from probe import twice; print(twice(21), sum(twice.for_python.stats.cache_hits.values()))"
FULL = """
import builtins, errno, os
opened = builtins.open
def full(path, mode="r", *rest, **more):
    if "w" in mode and ".nb" in str(path):
        raise OSError(errno.ENOSPC, "No space left on device", path)
    return opened(path, mode, *rest, **more)
import numba.core.caching
numba.core.caching.open = full
"""


@pytest.fixture
def probe(tmp_path):
    """Runs a kernel in a fresh process; returns what it printed, and its errors."""
    (tmp_path / "probe.py").write_text(KERNEL)
    paths = os.pathsep.join([str(tmp_path), str(Path(fastcrf.__file__).parents[1])])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}

    def run(before=""):
        command = [sys.executable, "-c", before + RUN]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    run.files = lambda ending: sorted((tmp_path / "cache").rglob(f"*{ending}"))
    return run


def damage(content, how):
    middle = len(content) // 2
    return {
        "emptied": b"",
        "cut off": content[:middle],
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "foreign": b"not a cache file",
        "a pickle that is not ours": b"cos\nsystem\n(S'exit 7'\ntR.",
    }[how]


@pytest.mark.parametrize("how", ["emptied", "cut off", "flipped", "foreign", "a pickle that is not ours"])
def test_a_damaged_file_is_compiled_again_and_replaced(probe, how):
    assert probe() == ("42 0", "")
    for ending in (".nbi", ".nbc"):
        (path,) = probe.files(ending)
        path.write_bytes(damage(path.read_bytes(), how))
        assert probe() == ("42 0", "")
    assert probe() == ("42 1", "")


def test_a_full_disk_costs_time_and_one_warning_that_names_the_folder(probe):
    said, warned = probe(FULL)
    assert said == "42 0"
    assert warned.count("The kernel cache in") == 1
    assert "No space left on device" in warned
    assert not probe.files(".nbc")
    assert probe() == ("42 0", "")
