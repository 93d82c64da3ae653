"""Weights that are updated lazily: a sparse update touches only the rows that a sequence reads."""
