"""Solvers that use Hessian-vector products."""
