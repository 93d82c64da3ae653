"""The interface of sampling schemes: the next block, its Lipschitz constant, the step size.

A scheme is a NamedTuple of arrays. There are four: lipschitz.py (SAG, NUS*), unseen_first.py (NUS),
given_probabilities.py and proportional.py (Proposition 1). `lam` is the L2 penalty in the papers' mean scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.jit.generic import generic

# State entries of all schemes; the `state` of a scheme determines which of them it has.
ESTIMATES = StateField("sequences", fill=1.0, low=0.0)
SEEN = StateField("sequences", "uint8", low=0, high=1)


class Scheme(Protocol):
    """The part of a scheme that Python code uses."""

    @property
    def seen(self) -> np.ndarray: ...  # [B] uint8

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays from which all others follow."""
        ...

    def rebuild(self) -> None:
        """Rebuild all other arrays."""
        ...


@generic
def sample(scheme, u, lam):  # type: ignore[no-untyped-def]
    """Return (the block that the uniform u chooses, the probability of that choice).

    Implemented in given_probabilities.py, given_step.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def begin_visit(scheme, i):  # type: ignore[no-untyped-def]
    """Return (whether to search for L of block i, L, whether also downwards, because no search has confirmed L).

    Writes: scheme.

    Implemented in given_probabilities.py, given_step.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def end_visit(scheme, i, L, trials):  # type: ignore[no-untyped-def]
    """Record L of a visit and its trials (0: none); return whether it was the first. Writes: scheme.

    Implemented in given_probabilities.py, given_step.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def step_size(scheme, lam):  # type: ignore[no-untyped-def]
    """Return the step size for the present constants.

    Implemented in given_probabilities.py, given_step.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def fade(scheme, i):  # type: ignore[no-untyped-def]
    """Decay the constants after a step that visited i. Writes: scheme.

    Implemented in given_probabilities.py, given_step.py, lipschitz.py, proportional.py and unseen_first.py.
    """


def restore(scheme: Scheme, state: Mapping[str, Any], take: Any) -> None:
    """Restore the arrays of a scheme from a state by take(name, state, array). Writes: scheme."""
    for name, array in scheme.state().items():
        take(name, state, array)
    scheme.rebuild()
