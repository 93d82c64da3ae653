"""What a loop over draws asks: which block to visit, what is known of its Lipschitz constant, how far to step.

A scheme is a NamedTuple of arrays. There are four: lipschitz.py (SAG, NUS*), unseen_first.py (NUS),
given_probabilities.py and proportional.py (Proposition 1). `lam` is the L2 penalty in the papers' mean scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.jit.generic import generic

# What a memory may hold of a scheme; which of these it does, the `state` of the scheme says.
ESTIMATES = StateField("sequences", fill=1.0, low=0.0)
SEEN = StateField("sequences", "uint8", low=0, high=1)


class Scheme(Protocol):
    """What Python code asks of a scheme."""

    @property
    def seen(self) -> np.ndarray: ...  # [B] uint8

    def state(self) -> dict[str, np.ndarray]:
        """The arrays from which all others follow."""
        ...

    def rebuild(self) -> None:
        """Make all other arrays anew."""
        ...


@generic
def draw(scheme, u, lam):  # type: ignore[no-untyped-def]
    """(the block that the uniform u chooses, the probability of that choice).

    Implemented in given_probabilities.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def begin_visit(scheme, i):  # type: ignore[no-untyped-def]
    """(whether to search for L of block i, L, whether to search downwards, too: no search has confirmed it yet).

    Writes: scheme.

    Implemented in given_probabilities.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def end_visit(scheme, i, L, trials):  # type: ignore[no-untyped-def]
    """Take note of a visit that left L after so many trials (0: none); whether it was the first. Writes: scheme.

    Implemented in given_probabilities.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def step_size(scheme, lam):  # type: ignore[no-untyped-def]
    """How far to go, given all constants.

    Implemented in given_probabilities.py, lipschitz.py, proportional.py and unseen_first.py.
    """


@generic
def fade(scheme, i):  # type: ignore[no-untyped-def]
    """What constants lose after a step that visited i. Writes: scheme.

    Implemented in given_probabilities.py, lipschitz.py, proportional.py and unseen_first.py.
    """


def restore(scheme: Scheme, state: Mapping[str, Any], take: Any) -> None:
    """Take the arrays of `state` from a memory, by take(name, memory, room). Writes: scheme."""
    for name, room in scheme.state().items():
        take(name, state, room)
    scheme.rebuild()
