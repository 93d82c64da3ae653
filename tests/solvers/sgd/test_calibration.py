"""The searches for a step size try what the programs they come from try, and choose what those choose."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.solvers.sgd import calibration
from reference import dense_sgd


class Scores:
    """A trial function with given scores, one after the other; it notes the step sizes. Later scores are the last."""

    def __init__(self, scores):
        self.scores, self.tried = scores, []

    def __call__(self, eta):
        self.tried.append(eta)
        return self.scores[min(len(self.tried), len(self.scores)) - 1]


scores = st.floats(0.0, 2.0) | st.just(math.inf) | st.just(math.nan)
START = 1.0


def assert_same_search(ours, theirs, given_scores):
    one, other = Scores(given_scores), Scores(given_scores)
    assert ours(one) == pytest.approx(theirs(other))
    assert one.tried == pytest.approx(other.tried)


@given(st.lists(scores, min_size=1, max_size=30).map(lambda found: [*found, 2.0, 0.5]))
def test_bottous_search_is_that_of_crfsgd(found):
    assert_same_search(
        lambda trial: calibration.bottou(trial, START), lambda trial: dense_sgd.bottou_search(trial, START), found
    )


@given(
    st.lists(scores, min_size=1, max_size=30),
    st.fixed_dictionaries(
        {
            "first": st.floats(0.01, 1.0),
            "rate": st.floats(1.1, 4.0),
            "candidates": st.integers(1, 12),
            "max_trials": st.integers(1, 25),
        }
    ),
)
def test_crfsuites_search_is_that_of_l2sgd(found, options):
    assert_same_search(
        lambda trial: calibration.crfsuite(trial, START, **options),
        lambda trial: dense_sgd.crfsuite_search(trial, START, **options),
        found,
    )


def test_bottous_search_ends_where_no_step_size_betters_the_start_and_halves_the_one_it_begins_with():
    """In crfsgd the best step size so far is 1 before the first trial."""
    trial = Scores([3.0, 2.5, 2.0, 4.0])
    assert calibration.bottou(trial, START) == 0.5
    assert len(trial.tried) == calibration.ENOUGH


def test_a_grid_gives_the_step_size_with_the_lowest_score():
    score = {0.5: math.nan, 0.1: 2.0, 0.05: 1.0, 0.01: math.inf}
    assert calibration.best_of(score.__getitem__, calibration.TSUBOI) == 0.05


def test_a_grid_without_a_finite_score_gives_its_first_step_size():
    assert calibration.best_of(lambda eta: math.nan, (0.5, 0.1)) == 0.5


def test_the_powers_of_ten_go_down_from_100():
    assert calibration.POWERS_OF_TEN[:4] == pytest.approx((100, 10, 1, 0.1))
