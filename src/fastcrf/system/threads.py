"""Determine the number of threads of a run."""

from __future__ import annotations

from typing import Any

import joblib
from joblib.parallel import get_active_backend

from fastcrf.core.checks import whole

MOST_WITHOUT_CORES = 64


def usable_jobs(n_jobs: Any = None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    None means all usable cores (affinity and container limits count), or 1 inside a joblib worker, where the cores are
    already taken. -1 means all usable cores anywhere, -2 all but one, as in joblib. Each thread takes memory, and
    threads without a core gain nothing. The result therefore never exceeds the usable cores, or MOST_WITHOUT_CORES if
    there are fewer cores. This lets a small machine repeat, bit for bit, a run of a larger one.
    """
    if n_jobs is None:
        return 1 if get_active_backend()[0].nesting_level else joblib.cpu_count()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not valid; use a number of threads, or -1 or None for all cores.")
    if isinstance(n_jobs, int) and n_jobs < 0:
        return max(1, joblib.cpu_count() + 1 + n_jobs)
    return min(whole("n_jobs", n_jobs, 1), max(joblib.cpu_count(), MOST_WITHOUT_CORES))
