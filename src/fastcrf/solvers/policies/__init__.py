"""Solvers that choose among the families: they stand above them, and may import any."""
