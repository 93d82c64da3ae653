"""Sequences from tables, JSON lines, data sets and annotation tools: adapters over one typed source."""
