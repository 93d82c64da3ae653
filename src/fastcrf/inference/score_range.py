"""Bound the score range by the largest weight and value, before any score is computed."""

from __future__ import annotations

DENSE = 1e6  # up to here doubles are dense enough to add up scores, and to subtract log Z from one
MASKED = -1e300  # the score of a label or a transition that is not allowed: finite, so that no difference is a NaN
IMPOSSIBLE = -1e299  # below every score of an allowed label sequence
