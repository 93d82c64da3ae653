"""A trained model without what cannot matter: weights that are exactly 0, and attributes without any weight.

Scores, probabilities and labels stay the same, to the last bit. CRFsuite also does it when it saves a model; after
training with an L1 penalty most of the vocabulary goes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.constraints import Constraints
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes


def prune(
    attributes: Attributes, features: FeatureMap, weights: Floats, needed: NDArray[np.bool_] | None = None
) -> tuple[Attributes, FeatureMap, Floats]:
    """Attributes, features and weights that remain, in the same order.

    needed: attributes [A] that stay without a weight, because constraints name them.
    """
    kept = weights != 0.0
    states, transitions = kept[: features.n_state], kept[features.n_state :]
    kept_before = np.concatenate(([0], np.cumsum(states)))  # [S + 1] kept state weights before each
    offsets = kept_before[features.offsets]
    used = np.diff(offsets) > 0
    used[: attributes.n_fixed] = True
    if needed is not None:
        used |= needed
    if kept.all() and used.all():
        return attributes, features, weights
    pruned = FeatureMap(
        offsets=np.concatenate(([0], offsets[1:][used])),
        labels=features.labels[states],
        sources=features.sources[transitions],
        targets=features.targets[transitions],
        n_labels=features.n_labels,
        order=features.order,
    )
    return attributes.kept(used), pruned, weights[kept]


def named_by(constraints: Constraints | None, attributes: Attributes) -> NDArray[np.bool_] | None:
    """Return which attributes the dictionary of constraints has entries for."""
    if constraints is None or not constraints.dictionary:
        return None
    return np.array([name in constraints.dictionary for name in attributes.names()])
