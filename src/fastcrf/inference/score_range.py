"""Whether scores stay within what doubles can hold, told from the largest weight and value before any is computed."""

from __future__ import annotations

DENSE = 1e6  # up to here doubles are dense enough to add up scores, and to subtract log Z from one
