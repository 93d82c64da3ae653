"""Solvers by products with the Hessian."""
