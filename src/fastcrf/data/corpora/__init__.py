"""Corpora to train and compare on: two that are generated, and those of the literature."""
