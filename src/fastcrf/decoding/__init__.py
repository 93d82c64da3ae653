"""Best labels and probabilities under given weights, compiled and in NumPy."""
