"""The scores of label bigrams as a matrix."""

from __future__ import annotations

import numpy as np

from fastcrf.types import FeatureMap, Floats


def transition_matrix(features: FeatureMap, weights: Floats) -> Floats:
    """Scores of all label bigrams, [K, K]; 0 where there is no weight."""
    matrix = np.zeros((features.n_labels, features.n_labels))
    matrix[features.sources, features.targets] = weights[features.n_state :]
    return matrix
