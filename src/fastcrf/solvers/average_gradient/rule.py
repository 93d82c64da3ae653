"""What an epoch loop asks of a rule: which sequence to visit, what is known of its Lipschitz constant, how far to step.

A rule is a NamedTuple of arrays; each verb means what the file of the rule says (lipschitz.py for SAG and NUS*,
unseen_first.py for NUS, given_probabilities.py and proportional.py for Proposition 1). `lam` is the
L2 penalty in the papers' mean scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from fastcrf.kernel import verb
from fastcrf.types import Longs


class Rule(Protocol):
    """What Python code asks of a rule."""

    @property
    def n_seen(self) -> Longs: ...  # [1]

    @property
    def seen(self) -> np.ndarray: ...  # [B] uint8

    def state(self) -> dict[str, np.ndarray]:
        """The arrays from which all others follow."""
        ...

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Take the arrays of `state` from a memory, and make the others anew."""
        ...


@verb
def draw(rule, u, lam):  # type: ignore[no-untyped-def]
    """The sequence that the uniform u chooses."""


@verb
def probability(rule, i, lam):  # type: ignore[no-untyped-def]
    """The probability with which `draw` gives i."""


@verb
def place_of(rule, i):  # type: ignore[no-untyped-def]
    """Where rule.estimates holds the Lipschitz constant of sequence i."""


@verb
def begin_visit(rule, i):  # type: ignore[no-untyped-def]
    """Set the estimate from which a search starts, and say whether to search. Writes: rule."""


@verb
def is_guess(rule, i):  # type: ignore[no-untyped-def]
    """Whether no search has confirmed the estimate yet, so that this one may lower it, too."""


@verb
def end_visit(rule, i, trials):  # type: ignore[no-untyped-def]
    """Take note of a visit whose search spent `trials` recursions (0: none). Writes: rule."""


@verb
def step_size(rule, lam):  # type: ignore[no-untyped-def]
    """How far to go, given all estimates."""


@verb
def fade(rule, i):  # type: ignore[no-untyped-def]
    """What estimates lose after a step that visited i. Writes: rule."""
