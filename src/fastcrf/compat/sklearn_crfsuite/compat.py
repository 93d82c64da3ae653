"""scikit-learn's base class, under the name by which sklearn-crfsuite has it."""

from __future__ import annotations

from sklearn.base import BaseEstimator

__all__ = ["BaseEstimator"]
