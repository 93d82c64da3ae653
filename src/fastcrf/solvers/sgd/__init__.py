"""Stochastic gradient descent: one gradient at a time, steps that shrink."""
