"""Inference in chains of order 1: forward-backward, log domain, expectations and Hessian-vector products."""
