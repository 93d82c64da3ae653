"""The kernel cache heals itself: damaged files are compiled again, unwritable ones cost time and one warning."""

from __future__ import annotations

import errno
import importlib.util
import itertools
import logging

import numba.core.caching
import pytest

from fastcrf import kernel, kernel_cache

KERNEL = """
from fastcrf.kernel import kernel

@kernel
def twice(x):
    return 2 * x
"""


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """Runs a kernel as a new process would, from its file; returns the result and how often the cache had it."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "probe.py").write_text(KERNEL)
    monkeypatch.setattr(kernel, "CACHE_FOLDER", tmp_path / "cache")
    monkeypatch.setattr(kernel_cache, "WARNED", set())
    numbers = itertools.count()

    def run():
        spec = importlib.util.spec_from_file_location(f"probe{next(numbers)}", tmp_path / "probe.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice(21), sum(module.twice.stats.cache_hits.values())

    run.files = lambda ending: sorted((tmp_path / "cache").rglob(f"*{ending}"))
    return run


def damage(content, how):
    middle = len(content) // 2
    return {
        "emptied": b"",
        "cut off": content[:middle],
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "foreign": b"not a cache file",
        "a pickle that is not ours": b"cos\n_exit\n(I7\ntR.",
    }[how]


@pytest.mark.parametrize("how", ["emptied", "cut off", "flipped", "foreign", "a pickle that is not ours"])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_damaged_file_is_compiled_again_and_replaced(probe, how, ending, caplog):
    assert [probe(), probe()] == [(42, 0), (42, 1)]
    (path,) = probe.files(ending)
    path.write_bytes(damage(path.read_bytes(), how))
    assert [probe(), probe()] == [(42, 0), (42, 1)]
    assert not caplog.records  # nobody needs to know


def test_a_full_disk_costs_time_and_one_warning_that_names_the_folder(probe, monkeypatch, caplog):
    def full(path, mode="r", *rest, **more):
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return open(path, mode, *rest, **more)

    monkeypatch.setattr(numba.core.caching, "open", full, raising=False)
    with caplog.at_level(logging.WARNING, "fastcrf"):
        assert [probe(), probe()] == [(42, 0), (42, 0)]
    (warning,) = (record.getMessage() for record in caplog.records)
    assert str(kernel.CACHE_FOLDER) in warning
    assert "No space left on device" in warning
    assert not probe.files(".nbc")
