"""The experiments of five papers: what they claim, and what our runs say of it."""
