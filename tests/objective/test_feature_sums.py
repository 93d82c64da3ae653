"""Sequences in groups of similar sums of features."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.objective.feature_sums import group_bounds

SUMS = np.array([1.0, 3.0, 9.0, 100.0])


@pytest.mark.parametrize(("n_groups", "bounds"), [(2, [0, 3, 4]), (3, [0, 2, 3, 4]), (4, [0, 1, 2, 3, 4])])
def test_groups_are_of_equal_ratios_where_there_are_more_sums_than_groups(n_groups, bounds):
    """Of log 100 / n each: for 2 groups up to 10, for 3 up to 4.6 and 21.5."""
    assert group_bounds(SUMS, n_groups).tolist() == bounds
