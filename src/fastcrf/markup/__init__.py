"""Pieces of HTML, and the text of a token: what reports and notebooks share."""
