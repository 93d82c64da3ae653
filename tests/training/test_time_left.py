"""How much of a run is done, and how long the rest takes, from made-up rows."""

from __future__ import annotations

import pytest

from fastcrf.stopping import CertifiedGap, EarlyStopping, GradientNorm, MaxIterations, MaxPasses, MaxSeconds
from fastcrf.training.time_left import Estimate, TimeLeft, in_words


def row(wall, gap=None, step=1, passes=1.0):
    return {"step": step, "passes": passes, "seconds": wall, "wall": wall, "relative_gap": gap}


def after(rules, *rows):
    left = TimeLeft(rules)
    for each in rows:
        left.add(each)
    return left.estimate(rows[-1])


@pytest.mark.parametrize(
    ("rule", "share"),
    [(MaxIterations(8), 0.25), (MaxPasses(20.0), 0.2), (MaxSeconds(30.0), 0.1), (MaxIterations(0), 1.0)],
)
def test_a_limit_is_used_up_at_a_constant_rate(rule, share):
    estimate = after([rule], row(3.0, step=2, passes=4.0))
    assert estimate == pytest.approx(Estimate(share, 3.0 * (1 - share) / share))


def test_a_gap_that_halves_every_second_is_predicted_exactly():
    rows = [row(float(t), 2.0**-t) for t in range(9)]
    assert after([CertifiedGap(2.0**-10)], *rows) == pytest.approx(Estimate(0.8, 2.0))


def test_the_rate_is_that_of_the_second_half():
    rows = [row(0.0, 1.0), row(4.0, 1e-2), row(8.0, 1e-3)]
    assert after([CertifiedGap(1e-4)], *rows).seconds == pytest.approx(4.0)


def test_the_rule_that_ends_the_run_first_decides():
    rows = [row(float(t), 2.0**-t, step=t) for t in range(1, 5)]
    assert after([CertifiedGap(2.0**-20), MaxIterations(5)], *rows).seconds == pytest.approx(1.0)
    assert after([CertifiedGap(2.0**-20), MaxIterations(5)], *rows).share == pytest.approx(0.8)


def test_without_a_useful_gap_nothing_is_promised():
    assert after([CertifiedGap(1e-3)], row(1.0, 5.0)) == Estimate(0.0, None)
    assert after([CertifiedGap(1e-3)], row(1.0, 0.5), row(2.0, 0.5)) == Estimate(0.0, None)
    assert after([EarlyStopping(3), GradientNorm(1.0)], row(1.0)) == Estimate(None, None)


def test_durations_in_words():
    assert [in_words(seconds) for seconds in (None, 0.2, 59.5, 61.0, 3700.0, 1e9)] == [
        "", "0:01 left", "1:00 left", "1:01 left", "1:01:40 left", "",
    ]  # fmt: skip
