"""A smaller model with nearly the same labels: small weights become 0, the others become multiples of one step.

Zeros and attributes without a weight are left out of the file. With `bits`, the file holds a whole number per weight
(1 byte up to 8 bits, else 2) and the step of state features and of transitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastcrf.core.checks import whole
from fastcrf.core.types import Floats
from fastcrf.data.model_file.content import ModelContent
from fastcrf.data.model_file.few_bytes import Steps
from fastcrf.model.pruning import named_by, prune

FEWEST_BITS, MOST_BITS = 2, 16


class Shrunk(NamedTuple):
    """A smaller model, and how its weights are stored."""

    content: ModelContent
    steps: Steps | None  # of state features and of transitions; None: as float64


def shrink(content: ModelContent, keep: float = 0.999, bits: int | None = None) -> Shrunk:
    """Return the model with the largest weights, whose absolute values have the share `keep` of all, in few bits."""
    weights, n_state, steps = largest(content.weights, checked_share(keep)), content.features.n_state, None
    if bits is not None:
        levels = 2 ** (bits_within(bits) - 1) - 1
        parts = np.split(weights, [n_state])
        steps = step_of(parts[0], levels), step_of(parts[1], levels)
        weights = np.concatenate([np.round(part / step) * step for part, step in zip(parts, steps, strict=True)])
    needed = named_by(content.constraints, content.attributes)
    attributes, features, weights = prune(content.attributes, content.features, weights, needed)
    return Shrunk(content._replace(attributes=attributes, features=features, weights=weights), steps)


def largest(weights: Floats, share: float) -> Floats:
    """Return the weights with the smallest set to 0: those that remain have this share of the absolute values."""
    sizes = np.abs(weights)
    order = np.argsort(sizes, kind="stable")
    dropped = np.cumsum(sizes[order]) <= (1.0 - share) * sizes.sum()
    kept = weights.copy()
    kept[order[dropped]] = 0.0
    return kept


def step_of(weights: Floats, levels: int) -> float:
    """Return the step of which the largest weight is `levels`."""
    return float(np.abs(weights).max(initial=0.0)) / levels or 1.0


def checked_share(keep: float) -> float:
    if not 0.0 < keep <= 1.0:
        raise ValueError(f"keep must be above 0 and at most 1; got keep={keep!r}.")
    return float(keep)


def bits_within(bits: int) -> int:
    if whole("bits", bits, FEWEST_BITS) > MOST_BITS:
        raise ValueError(f"bits must be at most {MOST_BITS}; got bits={bits!r}.")
    return bits
