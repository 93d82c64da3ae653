"""Dual solvers: they maximize over a distribution on the label sequences of each sequence; the weights follow."""
