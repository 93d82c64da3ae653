"""The engine that runs templates, compiled and in NumPy."""
