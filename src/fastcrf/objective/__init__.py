"""The objective, its gradient, curvature and blocks: all that a solver may ask for."""
