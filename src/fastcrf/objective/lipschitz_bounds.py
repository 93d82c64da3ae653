"""Global Lipschitz constants of the sequences' gradients, computed from the data alone.

The Hessian of sequence i is s_i times the covariance of its feature counts, so its largest eigenvalue is at most 1/4 of
the squared length of the largest difference of two counts:

    L_i <= s_i / 2 (sum_a C_a^2 + (T - 1)^2),   C_a = sum over the positions of |value of attribute a|

The counts of an attribute by label, sums of C_a units, differ by at most sqrt(2) C_a, and so do those of the T - 1
label bigrams (a chain of higher order adds those of the T - 2 trigrams and of longer n-grams). If only one label, or
bigram, has a weight, they differ by at most C_a: half of the term.
"""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, Diverged, FeatureMap, Floats
from fastcrf.data.corpus.reordering import order_of_blocks
from fastcrf.feature_space.label_contexts import lengths_of

SHARES = np.array([0.0, 0.25, 0.5])  # of C^2, if none, one or more of the labels have a weight


def lipschitz_bounds(corpus: Corpus, features: FeatureMap) -> Floats:
    """Return a bound on L_i for each sequence, [N]; of the loss alone, sequence weights included."""
    return np.concatenate([bounds_of_slice(part, features) for part in corpus.slices()])


def bounds_of_slice(corpus: Corpus, features: FeatureMap) -> Floats:
    lengths = np.diff(corpus.starts)
    per_sequence = np.diff(corpus.offsets[corpus.starts])
    owners = np.repeat(np.arange(corpus.n_sequences), per_sequence)
    pairs, place = np.unique(owners * features.n_attributes + corpus.attributes, return_inverse=True)
    values = np.abs(corpus.values) if len(corpus.values) else None
    totals = np.bincount(place, values, len(pairs))
    owner, attribute = np.divmod(pairs, features.n_attributes)
    terms = share(np.diff(features.offsets))[attribute] * totals**2
    bounds: Floats = np.bincount(owner, terms, corpus.n_sequences).astype(np.float64)
    n_weights = np.bincount(lengths_of(features.sources, features.n_labels), minlength=features.order + 1)
    for back in range(1, features.order + 1):
        bounds += share(n_weights[back]) * np.maximum(lengths - back, 0.0) ** 2
    return bounds * corpus.weights if len(corpus.weights) else bounds


def share(n_weights: np.ndarray | int) -> np.ndarray:
    return SHARES[np.minimum(n_weights, 2)]


def bounds_of_blocks(corpus: Corpus, features: FeatureMap, n_blocks: int, seed: int) -> Floats:
    """Return a bound for the mean over each of the blocks that `seed` defines (objective/movable.py), [n_blocks]."""
    bounds, n = lipschitz_bounds(corpus, features), corpus.n_sequences
    if not np.isfinite(bounds).all():
        raise Diverged("The Lipschitz constants of these data are not finite; scale the attribute values down.")
    if n_blocks == n:
        return bounds
    order, edges = order_of_blocks(n, n_blocks, seed)
    return np.add.reduceat(bounds[order], edges[:-1]) / np.diff(edges)
