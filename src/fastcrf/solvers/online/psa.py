"""Periodic step-size adaptation, PSA.

Hsu, Huang, Chang & Lee (2009), "Periodic step-size adaptation in second-order gradient descent for single-pass on-line
structured learning", Machine Learning 77, pp. 195-224, with the constants of Yang, Suk & Lee (2012), section 5.1.

Minimizes   sum_i -log p(y_i | x_i, w) + c2 |w|^2   or   ... + c1 |w|_1,   n sequences

    eta_j <- eta for all j;   t <- 0
    for each batch B of the sequences in random order
        w_j <- w_j - eta_j g_j,   g = sum of grad nll_i(w), i in B
        the penalty, (|B| / n) of it, acts on w_j for the time eta_j;   t <- t + 1
        if t is a multiple of 2b: theta^0, theta^b, theta^2b = w now, b and 2b updates ago, in reverse
            gamma_j <- (theta^2b - theta^b)_j / (theta^b - theta^0)_j
            eta_j <- v_j eta_j,   v_j by eqs. 4.18, 4.19 (periods.py)

The ratio of two distances that a weight moved estimates its eigenvalue of the Jacobian of one epoch's map, 1 - eta_j
times its curvature. Near 1, the steps are short and should hardly shrink; below 0, they are too long. A Step is one
epoch. Updates are lazy (rated_vector.py), so that the cost of an update depends on its sequences, not on the model.

`info["progressive_error"]` is the share of tokens whose most probable label, by the marginals at the weights before the
update, is not the gold one (progressive validation). It needs no extra computation. `info["step_size"]` is the largest
that a weight can have.

b is `period`; no source is recorded for its default of 10.

Differs from the paper: weights that a double period does not use get v_j = alpha without computing gamma; the penalty
acts after the gradient step, by its own flow, exp(-eta_j c) in place of 1 - eta_j c; L1 is an addition.
"""

from __future__ import annotations

from typing import ClassVar

from fastcrf.solvers.declaration import solver
from fastcrf.solvers.online.periods import ByComponent
from fastcrf.solvers.online.run import PeriodicStepSizes


@solver
class PSA(PeriodicStepSizes):
    """Train with PSA, periodic step-size adaptation, the solver for streams."""

    name: ClassVar[str] = "psa"

    def rule(self) -> ByComponent:
        return ByComponent(self.period, self.discount(), negative=-1.0)
