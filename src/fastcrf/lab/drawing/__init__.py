"""Figures of a comparison, from rows alone."""
