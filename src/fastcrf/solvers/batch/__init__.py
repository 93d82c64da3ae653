"""Solvers that evaluate the whole corpus at each step."""
