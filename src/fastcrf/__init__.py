"""fastcrf: fast, certified training of conditional random fields for sequence labelling."""

__version__ = "0.1.0"
