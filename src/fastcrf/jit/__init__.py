"""Decorators that compile kernels, generic functions, and the cache of compiled code. Imports Numba, as simd does."""
