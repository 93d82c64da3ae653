"""Transition weights as a matrix."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.feature_space.label_contexts import known_contexts


def transition_matrix(features: FeatureMap, weights: Floats) -> Floats:
    """Return the weights of all label bigrams, [K, K], or of known contexts and labels, [H, K]; 0 for a missing
    weight.
    """
    contexts = known_contexts(features)
    matrix = np.zeros((len(contexts), features.n_labels))
    matrix[np.searchsorted(contexts, features.sources), features.targets] = weights[features.n_state :]
    return matrix
