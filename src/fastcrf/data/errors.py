"""The one exception for input that cannot be understood."""

from __future__ import annotations


class DataError(ValueError):
    """Input that cannot be used; the message is one sentence that says where it is, what it is and what to do."""
