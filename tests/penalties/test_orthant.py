"""Pseudo-gradients and steps within an orthant against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.penalties.orthant import keep_descending, pseudo_gradient, step_within_orthant
from reference import plain_quasi_newton

few_numbers = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6).map(np.array)


@given(w=few_numbers, g=few_numbers, c1=st.sampled_from([0.0, 0.5, 1.0]))
def test_pseudo_gradient_is_the_shortest_sub_gradient(w, g, c1):
    np.testing.assert_array_equal(pseudo_gradient(w, g, c1), plain_quasi_newton.pseudo_gradient(w, g, c1))


def test_a_nan_gradient_stays_visible_at_a_zero_weight():
    assert np.isnan(pseudo_gradient(np.zeros(1), np.array([np.nan]), 1.0)[0])


@given(d=few_numbers, v=few_numbers)
def test_only_coordinates_that_go_down_are_kept(d, v):
    kept = d.copy()
    keep_descending(kept, v)
    np.testing.assert_array_equal(kept, np.where(d * -v > 0, d, 0.0))


@given(w=few_numbers, d=few_numbers, t=st.sampled_from([0.25, 1.0, 2.0]))
def test_no_weight_crosses_zero_in_a_step(w, d, t):
    moved = step_within_orthant(w, d, t)
    assert np.all(moved * w >= 0)
    assert np.all((moved == w + t * d) | (moved == 0.0))
