"""Shared types, argument checks and the schema of solver state. Uses only Python and NumPy."""
