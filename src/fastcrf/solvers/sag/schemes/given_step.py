"""The samples and constants of lipschitz.py with a step size that is given: stochastic gradients with NUS.

Schmidt et al. (2015), footnote 10. Nothing but the step size differs from the scheme inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.solvers.sag.schemes import scheme
from fastcrf.solvers.sag.schemes.lipschitz import (
    Constants,
    begin_visit_of_constants,
    end_visit_of_constants,
    sample_by_constants,
)


class GivenStep(NamedTuple):
    """Searched constants that choose samples, and the step size."""

    constants: Constants
    step: float

    @property
    def seen(self) -> np.ndarray:
        return self.constants.seen

    def state(self) -> dict[str, np.ndarray]:
        return self.constants.state()

    def rebuild(self) -> None:
        self.constants.rebuild()


@scheme.sample.register(GivenStep)
def sample_by_inner_constants(given, u, lam):
    return sample_by_constants(given.constants, u, lam)


@scheme.begin_visit.register(GivenStep)
def begin_visit_of_inner_constants(given, i):
    return begin_visit_of_constants(given.constants, i)


@scheme.end_visit.register(GivenStep)
def end_visit_of_inner_constants(given, i, L, trials):
    return end_visit_of_constants(given.constants, i, L, trials)


@scheme.step_size.register(GivenStep)
def given_step_size(given, lam):
    return given.step


@scheme.fade.register(GivenStep)
def fade_nothing(given, i):
    pass
