"""The best path in lanes is the best of all paths, the lowest among equals, and finite whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.inference.lane_viterbi import best_path_in_lanes
from fastcrf.simd.widths import aligned_zeros, choose_width
from reference import brute_force


def decoded(scores, transitions):
    T, K = scores.shape
    width, padded = choose_width(K)
    rows, edges = aligned_zeros(T, padded), aligned_zeros(padded, padded)
    rows[:, K:] = -1e300
    rows[:, :K], edges[:K, :K] = scores, transitions
    labels = np.zeros(T, np.int32)
    best_path_in_lanes(rows, edges, np.int64(K), labels, (0,) * width)
    return tuple(labels.tolist())


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), T=st.integers(1, 4), K=st.sampled_from([2, 3, 4]), whole=st.booleans())
def test_it_is_the_best_of_all_paths(seed, T, K, whole):
    """Whole numbers make ties."""
    rng = np.random.default_rng(seed)
    draw = (lambda *size: rng.integers(-1, 2, size).astype(float)) if whole else (lambda *size: rng.normal(size=size))
    scores, transitions = draw(T, K), draw(K, K)
    assert decoded(scores, transitions) == brute_force.best_path(scores, transitions)


@pytest.mark.parametrize("size", [1e7, 1e15])
def test_small_differences_survive_large_scores(size):
    """All labels of the first position are that large, and would swallow what follows."""
    scores, transitions = np.random.default_rng(1).normal(size=(4, 3)), np.zeros((3, 3))
    scores[1] += size
    expected = scores.argmax(axis=1)
    assert decoded(scores, transitions)[2:] == tuple(expected[2:])
