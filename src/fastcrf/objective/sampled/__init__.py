"""Curvature estimated from label sequences drawn from the model."""
