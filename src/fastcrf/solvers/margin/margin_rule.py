"""The margin rule: the smallest step that labels a sequence correctly with a margin.

    cost = w . D + wrong^power             D = F(x_i, y) - F(x_i, y_i), y the best label sequence
    tau = min(largest, cost / (|D|^2 + slack))
    w <- w - s_i tau D

Crammer et al. (2006): PA is (largest inf, slack 0), PA-I (C, 0), PA-II (inf, 1 / (2 C)).
"""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.solvers.margin.mistakes import learn, move, slope_along, weight_of


class MarginRule(NamedTuple):
    power: float  # of the number of wrong labels: 0 if their number does not matter
    largest: float  # step; may be infinite
    slack: float


@learn.register(MarginRule)
def learn_a_margin(rule, state, mistake, lanes):
    i, weight = mistake.i, weight_of(state.blocks.chains, mistake.i)
    if mistake.square == 0.0:  # the label sequences have equal features, so there is nothing to move
        return 0.0
    cost = slope_along(state, i, lanes) + float(mistake.wrong) ** rule.power
    step = weight * min(rule.largest, cost / (mistake.square + rule.slack))
    move(state.vector, state, i, step, lanes)
    move(state.beside, state, i, mistake.visits * step, lanes)
    return weight * cost
