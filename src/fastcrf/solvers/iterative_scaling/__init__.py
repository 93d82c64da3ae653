"""Iterative scaling (GIS, IIS) and methods that accelerate it."""
