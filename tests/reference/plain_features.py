"""Features of a corpus from CRFsuite's definition, by dictionaries of names."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

from fastcrf.data.encoding.items import flatten


def frequencies(X, y, weights=None):
    """{(attribute, label): frequency} and {(label, label): frequency} of what is observed."""
    states, transitions = defaultdict(float), defaultdict(float)
    for i, (sequence, labels) in enumerate(zip(X, y, strict=True)):
        weight = 1.0 if weights is None else weights[i]
        for item, label in zip(sequence, labels, strict=True):
            for name, value in zip(*flatten(item), strict=True):
                states[name, label] += weight * value
        for before, after in pairwise(labels):
            transitions[before, after] += weight
    return states, transitions


def features(X, y, weights=None, all_states=False, all_transitions=False, min_freq=0.0, drop_negative=False):
    """StateField (attribute, label) pairs and kept label bigrams, with their frequencies."""
    states, transitions = frequencies(X, y, weights)
    labels = {label for sequence in y for label in sequence}
    if all_states:
        for name in {name for name, _ in states}:
            for label in labels:
                states[name, label] += 0.0
    if all_transitions:
        for before in labels:
            for after in labels:
                transitions[before, after] += 0.0
    threshold = min_freq if min_freq > 0 or drop_negative else -math.inf
    return tuple({pair: freq for pair, freq in found.items() if freq >= threshold} for found in (states, transitions))
