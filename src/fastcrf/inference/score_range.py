"""Bound the score range by the largest weight and value, before any score is computed."""

from __future__ import annotations

DENSE = 1e6  # up to here doubles are dense enough to add up scores, and to subtract log Z from one
