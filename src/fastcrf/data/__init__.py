"""Conversion of Python objects and files to arrays."""
