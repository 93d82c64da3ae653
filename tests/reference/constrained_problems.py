"""Random chains whose label sequences are constrained, drawn by hypothesis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from fastcrf.constraints.allowed import make_allowed
from reference import brute_force
from reference.enumerated_constraints import allowed_paths
from reference.random_corpora import random_corpus, random_features

SCALES = [0.0, 1.0, 40.0, 3000.0]  # the last two have too large a range for the probability domain


@st.composite
def constrained(draw, scales=SCALES, most_labels=4):
    """(corpus, features, weights, allowed) of a few short sequences; some allow no label sequence."""
    seed, K = draw(st.integers(0, 2**32)), draw(st.integers(1, most_labels))
    lengths = draw(st.lists(st.integers(0, 5 if K < 4 else 4), min_size=1, max_size=3))
    corpus = random_corpus(seed, lengths=tuple(lengths), n_labels=K, values=draw(st.booleans()))
    order, density = draw(st.sampled_from([1, 2])), draw(st.sampled_from([0.1, 0.5, 1.0]))
    features = random_features(seed, n_labels=K, order=order, density=density)
    rng = np.random.default_rng([seed, 3])
    weights = draw(st.sampled_from(scales)) * rng.uniform(-1, 1, features.n_weights)
    sets = rng.random((draw(st.integers(1, 5)), K)) < draw(st.sampled_from([0.4, 0.8]))
    sets[0] = True
    set_of = rng.integers(0, len(sets), corpus.n_positions)
    transitions = rng.random((K, K)) < draw(st.sampled_from([0.5, 0.9, 1.0]))
    return corpus, features, weights, make_allowed(set_of, sets, transitions)


def of_sequences(corpus, features, weights, allowed):
    """(positions, label scores, transitions, allowed paths) of each sequence that has positions."""
    transitions = brute_force.transition_scores(features, weights)
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        if first < last:
            scores = brute_force.label_scores(corpus, features, weights, i)
            yield i, slice(first, last), scores, transitions, allowed_paths(allowed, first, last)
