"""Solvers that climb the dual: a distribution over the labellings of each sequence, which the weights follow."""
