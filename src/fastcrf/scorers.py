"""Scorers for scikit-learn's `cross_val_score`, `GridSearchCV` and other searches.

`flat_accuracy` and `sequence_accuracy` have the names of `sklearn_crfsuite`.
"""

from __future__ import annotations

from sklearn.metrics import make_scorer

from fastcrf.metrics import flat_accuracy_score, segment_f1_score, sequence_accuracy_score

__all__ = ["flat_accuracy", "sequence_accuracy"]

flat_accuracy = make_scorer(flat_accuracy_score)
sequence_accuracy = make_scorer(sequence_accuracy_score)
segment_f1 = make_scorer(segment_f1_score)
