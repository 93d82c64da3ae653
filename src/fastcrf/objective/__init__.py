"""The objective, its gradient, curvature and blocks: everything that a solver may use."""
