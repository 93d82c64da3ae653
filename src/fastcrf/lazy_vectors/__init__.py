"""Vectors with lazy updates: a stochastic update touches only the rows that its sequences read."""
