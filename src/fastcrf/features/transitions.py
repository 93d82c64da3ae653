"""Transition weights as a matrix."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.features.histories import known_histories


def transition_matrix(features: FeatureMap, weights: Floats) -> Floats:
    """Return the weights of all label bigrams, [K, K], or of known contexts and labels, [H, K]; 0 for a missing
    weight.
    """
    histories = known_histories(features)
    matrix = np.zeros((len(histories), features.n_labels))
    matrix[np.searchsorted(histories, features.sources), features.targets] = weights[features.n_state :]
    return matrix
