"""The scores of label bigrams as a matrix."""

from __future__ import annotations

import numpy as np

from fastcrf.chain.histories import n_histories
from fastcrf.types import FeatureMap, Floats


def transition_matrix(features: FeatureMap, weights: Floats) -> Floats:
    """The weights of all label bigrams, [K, K], or of all histories and labels, [K + K K, K]; 0 where there is none."""
    matrix = np.zeros((n_histories(features.n_labels, features.order), features.n_labels))
    matrix[features.sources, features.targets] = weights[features.n_state :]
    return matrix
