"""The shared parts of stochastic solvers: sampling, stored gradients, slices of an epoch."""
