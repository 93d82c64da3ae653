"""What the stochastic solver families share: sampling, stored gradients, slices of an epoch."""
