"""The scorers of `fastcrf.scorers`."""

from __future__ import annotations

from fastcrf.scorers import flat_accuracy, sequence_accuracy

__all__ = ["flat_accuracy", "sequence_accuracy"]
