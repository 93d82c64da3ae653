"""Samplers against cumulative sums and against the frequencies they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.stochastic.sampling import (
    build_trees,
    epoch_permutation,
    epoch_uniforms,
    find_leaf,
    leaves_of,
    mixture_probability,
    sample_mixture,
    sample_uniform,
    sample_unseen_first,
    set_leaf,
    unseen_first_probability,
)

numbers = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40)  # sums of these are exact in any order
uniforms = st.floats(0.0, 1.0, exclude_max=True)


def trees(values):
    sums, maxima = np.zeros(2 * leaves_of(len(values))), np.zeros(2 * leaves_of(len(values)))
    build_trees(np.array(values), sums, maxima)
    return sums, maxima


@given(numbers)
def test_roots_are_the_sum_and_the_largest(values):
    sums, maxima = trees(values)
    assert sums[1] == sum(values)
    assert maxima[1] == max(values)


@given(st.integers(1, 1000))
def test_a_tree_has_the_next_power_of_two_of_leaves(n):
    assert leaves_of(n) >= n > leaves_of(n) // 2 or n == 1


@given(numbers.filter(any), uniforms)
def test_a_leaf_is_found_as_in_the_cumulative_sums(values, u):
    sums, _ = trees(values)
    expected = np.searchsorted(np.cumsum(values), u * sum(values), side="right")
    assert find_leaf(u * sums[1], sums) == expected


@given(st.lists(st.just(0.0) | st.floats(1e-12, 1e12), min_size=1, max_size=40).filter(any), st.floats(0.0, 1.0))
def test_a_leaf_of_zero_is_never_found_whatever_the_rounding(values, u):
    sums, _ = trees(values)
    assert values[find_leaf(u * sums[1], sums)] > 0.0


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=40), st.data())
def test_a_tree_that_was_changed_leaf_by_leaf_equals_a_new_one_bit_for_bit(values, data):
    values = list(values)
    sums, maxima = trees(values)
    for _ in range(data.draw(st.integers(0, 10))):
        i, number = data.draw(st.integers(0, len(values) - 1)), data.draw(st.floats(0.0, 1e9))
        values[i] = number
        set_leaf(i, number, sums, maxima)
    for changed, new in zip((sums, maxima), trees(values), strict=True):
        np.testing.assert_array_equal(changed, new)


def test_leaves_are_found_as_often_as_they_weigh():
    values = [3.0, 0.0, 1.0, 5.0, 1.0]
    sums, _ = trees(values)
    found = np.bincount([find_leaf(u * sums[1], sums) for u in epoch_uniforms(1, 0, 20_000)], minlength=5)
    np.testing.assert_allclose(found / 20_000, np.array(values) / 10.0, atol=0.015)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_a_mixture_has_its_share_of_uniform_draws(share):
    values = np.array([3.0, 0.0, 1.0, 5.0, 1.0])
    sums, _ = trees(values)
    found = np.bincount([sample_mixture(u, share, 5, sums) for u in epoch_uniforms(2, 0, 20_000)], minlength=5)
    np.testing.assert_allclose(found / 20_000, share / 5 + (1 - share) * values / 10.0, atol=0.015)


@given(st.floats(0.0, 1.0, exclude_max=True), st.integers(1, 30))
def test_without_leaves_a_mixture_is_uniform(u, n):
    sums, _ = trees([0.0] * n)
    share = 0.5
    expected = int((u / share if u < share else (u - share) / (1 - share)) * n)
    assert sample_mixture(u, share, n, sums) == expected


@given(st.floats(0.0, 1.0), st.integers(1, 10**9))
def test_a_uniform_draw_is_one_of_n(u, n):
    assert 0 <= sample_uniform(u, n) < n


def test_randomness_depends_on_seed_and_epoch_alone():
    np.testing.assert_array_equal(epoch_uniforms(3, 7, 5), epoch_uniforms(3, 7, 9)[:5])
    np.testing.assert_array_equal(epoch_permutation(3, 7, 9), epoch_permutation(3, 7, 9))
    assert sorted(epoch_permutation(3, 7, 9)) == list(range(9))
    for other in ((3, 8), (4, 7)):
        assert not np.array_equal(epoch_uniforms(3, 7, 5), epoch_uniforms(*other, 5))
        assert not np.array_equal(epoch_permutation(3, 7, 9), epoch_permutation(*other, 9))


def test_unseen_sequences_come_first_in_their_order_and_then_by_weight():
    order, values = np.array([2, 0, 3, 1]), [0.0, 0.0, 0.0, 0.0]
    drawn = []
    rng = np.random.default_rng(0)
    while len(drawn) < 4:
        sums, _ = trees(values)
        i = sample_unseen_first(rng.random(), order, len(drawn), 0.0, sums)
        if i not in drawn:
            assert i == order[len(drawn)]
            drawn.append(int(i))
            values[i] = i + 1.0
    sums, _ = trees(values)
    counts = np.bincount([sample_unseen_first(u, order, 4, 0.0, sums) for u in rng.random(20_000)], minlength=4)
    np.testing.assert_allclose(counts / 20_000, np.array(values) / sum(values), atol=0.015)


def test_an_unseen_sequence_has_the_probability_of_the_unseen_share():
    order, (sums, _) = np.arange(4), trees([1.0, 3.0, 0.0, 0.0])
    uniforms = (np.arange(4000) + 0.5) / 4000
    for share, of_seen in [(0.0, [0.25, 0.75]), (0.6, [0.4, 0.6]), (1.0, [0.5, 0.5])]:
        counts = np.bincount([sample_unseen_first(u, order, 2, share, sums) for u in uniforms], minlength=4)
        np.testing.assert_allclose(counts / 4000, [*np.multiply(of_seen, 0.5), 0.5, 0.0], atol=1e-3)


@given(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=12), st.floats(0.0, 0.99), st.data())
def test_the_probability_of_an_unseen_first_draw_is_that_of_its_draws_over_all_orders(values, share, data):
    n, m = len(values), data.draw(st.integers(1, len(values)))
    order, seen = np.arange(n), (np.arange(n) < m).astype(np.uint8)
    sums, _ = trees(np.where(seen, values, 0.0))
    total = [unseen_first_probability(i, order, m, seen[i], share, sums) for i in range(n)]
    among = share / m + (1 - share) * np.array(values) / sum(values[:m])
    assert total == pytest.approx(np.where(seen, m / n * among, 1 / n))


@given(numbers, st.floats(0.0, 1.0))
def test_the_probability_of_a_mixture_is_that_of_its_draws(values, share):
    n, (sums, _) = len(values), trees(values)
    total = [mixture_probability(i, share, n, sums) for i in range(n)]
    assert sum(total) == pytest.approx(1.0)
    expected = [share / n + (1 - share) * v / sum(values) for v in values] if any(values) else [1 / n] * n
    assert total == pytest.approx(expected)
