"""The weights of a model as HTML: transitions as a matrix, and the strongest attributes of each label."""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Any

from fastcrf.markup.parts import matrix, table, text_of
from fastcrf.model.model import Model

MOST_LABELS = 30  # rows and columns of a matrix


def transition_matrix(model: Model) -> str:
    """Return the weights of pairs of labels; of many labels, those with the largest weights."""
    weights = model.transition_features_
    labels = shown_labels(model)
    cells = [[weights.get((before, after), 0.0) for after in labels] for before in labels]
    return matrix(labels, cells, "from \\ to", 1)


def shown_labels(model: Model) -> list[Any]:
    """Return the labels in the model's order; of many, those with the largest transition weights."""
    labels = model.classes_
    if len(labels) <= MOST_LABELS:
        return labels
    size: defaultdict[Any, float] = defaultdict(float)
    for pair, weight in model.transition_features_.items():
        for label in pair:
            size[label] = max(size[label], abs(weight))
    kept = set(heapq.nlargest(MOST_LABELS, labels, key=lambda label: size[label]))
    return [label for label in labels if label in kept]


def strongest_attributes(model: Model, most: int) -> str:
    """Return a table with the largest weights of each label, positive ones first."""
    by_label: defaultdict[Any, list[tuple[float, str]]] = defaultdict(list)
    for (attribute, label), weight in model.state_features_.items():
        by_label[label].append((weight, attribute))
    rows = []
    for label in model.classes_:
        largest = heapq.nlargest(most, by_label[label])
        smallest = [pair for pair in heapq.nsmallest(most // 2, by_label[label]) if pair[0] < 0.0]
        rows.append((text_of(label), listed(largest), listed(smallest)))
    return table(("label", "largest weights", "smallest weights"), rows)


def listed(pairs: list[tuple[float, str]]) -> str:
    return " ".join(f"<code>{text_of(name)}</code>&nbsp;{weight:+.2f}" for weight, name in pairs)
