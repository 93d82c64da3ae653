"""The rule of solvers that move the weights until a sequence is labelled rightly with a margin, but no further.

    cost = w . D + wrong^power             D = F(x_i, y) - F(x_i, y_i), y the best labelling
    tau = min(largest, cost / (|D|^2 + slack))
    w <- w - s_i tau D

Crammer et al. (2006): PA is (largest inf, slack 0), PA-I (C, 0), PA-II (inf, 1 / (2 C)).
"""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.draws.local_change import dot_change
from fastcrf.solvers.margin.mistakes import learn, move, weight_of


class TowardsMargin(NamedTuple):
    power: float  # of the number of wrong labels: 0 if one is as bad as many
    largest: float  # step; may be infinite
    slack: float


@learn.register(TowardsMargin)
def learn_a_margin(rule, blocks, i, wrong, square, visits, vector, beside, space, lanes):
    support, H = blocks.support, blocks.layout.n_histories
    if square == 0.0:  # no feature tells the labellings apart, so there is nothing to move
        return 0.0
    slope = dot_change(support, i, space.change, space.edge_change, space.weights, space.edges.scores, H, lanes)
    cost = slope + float(wrong) ** rule.power
    step = weight_of(blocks.chains, i) * min(rule.largest, cost / (square + rule.slack))
    move(vector, blocks, i, step, space, lanes)
    move(beside, blocks, i, visits * step, space, lanes)
    return weight_of(blocks.chains, i) * cost
