"""Stochastic gradient descent with decreasing step sizes."""
