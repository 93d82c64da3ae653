"""Types that every package shares, argument checks, and the declared state of solvers. Plain Python and NumPy."""
