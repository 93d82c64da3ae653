"""n_jobs: all cores, or as many as are left."""

from __future__ import annotations

import joblib
import pytest

from fastcrf.system.threads import usable_jobs


def test_none_is_all_usable_cores():
    assert usable_jobs(None) == joblib.cpu_count() >= 1


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_none_is_one_inside_a_joblib_worker_and_a_number_is_that_number(backend):
    assert joblib.Parallel(2, backend=backend)(joblib.delayed(usable_jobs)(n) for n in (None, None, 3)) == [1, 1, 3]


def test_a_joblib_loop_without_workers_leaves_all_cores():
    assert joblib.Parallel(1)(joblib.delayed(usable_jobs)() for _ in range(2)) == [joblib.cpu_count()] * 2


def test_negative_numbers_count_down_from_all_cores():
    assert usable_jobs(-1) == joblib.cpu_count()
    assert usable_jobs(-2) == max(1, joblib.cpu_count() - 1)
    assert usable_jobs(-1000) == 1


@pytest.mark.parametrize("wrong", [0, 1.5, "two", True])
def test_other_values_are_one_sentence(wrong):
    with pytest.raises(ValueError, match=r"^n_jobs"):
        usable_jobs(wrong)
