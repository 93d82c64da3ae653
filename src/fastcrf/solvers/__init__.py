"""Solvers: one paper, one file; one folder per family."""
