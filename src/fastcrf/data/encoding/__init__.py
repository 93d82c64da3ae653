"""Encoding of Python's data as arrays: checks of items, sequences and labels, and ids of attributes."""
