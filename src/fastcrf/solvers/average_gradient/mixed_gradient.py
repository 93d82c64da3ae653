"""The periods of EMGD: SVRG's draws, kept in a ball around the snapshot; their mean is the next snapshot.

Its size is what strong convexity says of the distance to the optimum w*, given the gradient of F at the snapshot w~:

    |w~ - w*| <= |grad F(w~)| / (2 c2)         F in the sum scale, of which 2 c2 is the modulus of convexity
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.draws.ball_vector import D_D, RADIUS, make_ball
from fastcrf.draws.lazy_vector import collect_values, flush, settle, spread_values
from fastcrf.solvers.average_gradient.rule import Rule
from fastcrf.solvers.average_gradient.snapshots import SnapshotRun
from fastcrf.types import Floats, Step


class MixedGradientRun(SnapshotRun):
    """The state of one run. Within a period its weights are the mean so far.

    project: whether to stay in the ball; halving: whether only the first size follows from the gradient, and each next
    ball has half the squared size of the last.
    """

    def __init__(
        self,
        problem: Any,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Rule,
        seed: int,
        n_draws: int,
        project: bool,
        halving: bool,
    ) -> None:
        self.project, self.halving = project, halving
        super().__init__(problem, weights, memory, rule, seed, n_draws)
        nothing = np.zeros_like(self.settled[0])
        state = memory or {"centre": self.settled[0], "moved": nothing, "total": nothing, "radius": np.inf}
        self.centre, self.moved, self.total = (np.array(state[name]) for name in ("centre", "moved", "total"))
        self.vector, self.places, self.centre_places = make_ball(
            self.sequences.layout, self.part.features, (self.moved, self.settled[1]), (self.centre, self.total),
            2.0 * problem.c2, state["radius"],
        )  # fmt: skip

    def step(self, evaluations: int = 0) -> Step:
        step = super().step(evaluations)
        return step._replace(info={**step.info, "radius": float(self.vector.state[RADIUS])})

    def _settle(self) -> float:
        settle(self.vector, self.places, 0.0, self.moved, self.settled[1], self.lanes)
        collect_values(self.centre_places, 0.0, self.centre, self.total)
        n_drawn = self.drawn if self.snapped == self.n_blocks else 0
        np.add(self.centre, self.total / (n_drawn + 1), out=self.settled[0])
        return float(self.vector.state[D_D])

    def _begin_snapshot(self) -> None:
        """Move the centre to the mean of the period's weights, its first and last included."""
        super()._begin_snapshot()
        settle(self.vector, self.places, 0.0, self.moved, self.settled[1], self.lanes)
        collect_values(self.centre_places, 0.0, self.centre, self.total)
        self.centre += self.total / (self.n_draws + 1)
        self.moved[:] = self.total[:] = 0.0
        spread_values(self.centre, self.total, self.centre_places)
        spread_values(self.moved, self.settled[1], self.places)

    def _end_snapshot(self) -> None:
        super()._end_snapshot()
        flush(self.vector, self.lanes)
        state, ridge = self.vector.state, 2.0 * self.problem.c2
        if not self.project or ridge == 0.0:
            state[RADIUS] = np.inf
        elif self.halving and self.epoch > 1:
            state[RADIUS] /= np.sqrt(2.0)
        else:
            state[RADIUS] = np.sqrt(state[D_D]) / ridge

    def _state(self) -> dict[str, Any]:
        own = {"centre": self.centre, "moved": self.moved, "total": self.total}
        return {**super()._state(), **own, "radius": float(self.vector.state[RADIUS])}
