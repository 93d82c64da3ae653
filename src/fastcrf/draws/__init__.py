"""What all solvers that draw sequences share: blocks evaluated, lazy vectors, stored gradients, sampling, epochs."""
