"""The scores of `fastcrf.metrics` that sklearn-crfsuite has."""

from __future__ import annotations

from fastcrf.compat.sklearn_crfsuite.utils import flatten
from fastcrf.metrics import (
    flat_accuracy_score,
    flat_classification_report,
    flat_f1_score,
    flat_fbeta_score,
    flat_precision_score,
    flat_recall_score,
    sequence_accuracy_score,
)

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "flatten",
    "sequence_accuracy_score",
]
