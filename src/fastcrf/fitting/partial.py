"""Train on partial labels: start from what is fully labeled, then maximize the likelihood of all that is known.

The start is a model of the labeled runs of tokens. It also completes the labels, which decides the features: besides
those of known labels, a token without a label has features with the label that the start gives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastcrf.constraints.allowed import Allowed, allowed_labels
from fastcrf.core.types import Corpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import NO_ITEMS, encode_training
from fastcrf.data.encoding.input_shapes import labels_of
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.exceptions import DataError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.fit import Fit, fit_corpus
from fastcrf.fitting.plan import Plan
from fastcrf.fitting.warm_start import starting_weights
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.partial_labels.problem import fully_labeled

OF_START = ("features", "n_jobs")  # arguments that the start also has
ALONE = {"prior": "prior", "constrained_training": "constrained_training", "checkpoint": "checkpoint"}


def fit_partial(
    X: Iterable[Any],
    y: Iterable[Any],
    plan: Plan,
    *,
    attributes: Attributes = NO_ITEMS,
    sample_weight: Iterable[float] | None = None,
    **how: Any,
) -> Fit:
    """Train on sequences X, of whose labels y says what is known: a label, a set of labels, or None."""
    for name in ALONE:
        if how.get(name):
            raise ValueError(f"partial_labels=True cannot be combined with {name}; leave one of them out.")
    rows = [list(labels_of(row, f"y[{i}]")) for i, row in enumerate(y)]
    labels = single_labels(rows)
    with announce_compilation():
        filled = [[labels[0] if is_open(entry) else entry for entry in row] for row in rows]
        corpus, learnt, labels = encode_training(X, filled, sample_weight, attributes, labels)
        allowed = allowed_labels(None, labels, corpus, [row for row in rows if row])
        assert allowed is not None
        start = fit_start(corpus, learnt, labels, plan, allowed, {name: how[name] for name in OF_START if name in how})
        corpus = completed(corpus, start, learnt, labels, allowed, how.get("features", {}))
    if how.get("start") is None:
        how["start"] = start.model
    return fit_corpus(corpus, learnt, labels, plan, partial=allowed, **how)


def is_open(entry: Any) -> bool:
    """Return whether an entry of y leaves the label open."""
    return entry is None or isinstance(entry, set | frozenset)


def single_labels(rows: list[list[Any]]) -> list[Any]:
    """Return the labels that y names, in order of first appearance, those that only sets have last and sorted."""
    known = dict.fromkeys(entry for row in rows for entry in row if not is_open(entry))
    if not known:
        raise DataError("No token in y has a label of its own; partial labels need some tokens with a known label.")
    empty = [(i, t) for i, row in enumerate(rows) for t, entry in enumerate(row) if is_open(entry) and entry == set()]
    if empty:
        raise DataError(
            f"y[{empty[0][0]}], position {empty[0][1]}: the set of labels is empty; write None for unknown."
        )
    in_sets = {label for row in rows for entry in row if is_open(entry) and entry for label in entry}
    return [*known, *sorted(in_sets - known.keys(), key=str)]


def fit_start(
    corpus: Corpus, learnt: Attributes, labels: list[Any], plan: Plan, allowed: Allowed, how: dict[str, Any]
) -> Fit:
    """Train on the runs of tokens whose label is known."""
    known = allowed.sets.sum(axis=1)[allowed.set_of] == 1
    stop = tuple(rule for rule in plan.stop if rule is not plan.early_stopping)
    return fit_corpus(fully_labeled(corpus, known), learnt, labels, plan._replace(stop=stop), **how)


def completed(
    corpus: Corpus, start: Fit, learnt: Attributes, labels: list[Any], allowed: Allowed, options: dict[str, Any]
) -> Corpus:
    """Return the corpus with the best allowed labels under the start."""
    features = build_feature_map(corpus, len(learnt), len(labels), **options)
    weights = starting_weights(start.model, learnt, labels, features)
    return corpus._replace(labels=np.asarray(viterbi(corpus, features, weights, allowed), np.int32))
