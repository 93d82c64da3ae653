"""Inference in chains of order 2 and above, whose states are label contexts."""
