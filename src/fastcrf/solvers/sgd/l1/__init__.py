"""Stochastic gradient descent with an L1 penalty or an L1 ball."""
