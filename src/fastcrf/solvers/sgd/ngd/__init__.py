"""Natural gradient descent."""
