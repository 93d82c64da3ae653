"""Experiments: rows on disk, optima, tables and figures."""
