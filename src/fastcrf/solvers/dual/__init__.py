"""Solvers that climb the dual: a distribution over the labelings of each sequence, which the weights follow."""
