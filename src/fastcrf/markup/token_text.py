"""The text of a token, as people know it, from the item that describes it."""

from __future__ import annotations

from typing import Any

TOKEN_KEYS = ("word", "token", "form", "text", "w", "w[0]", "word.lower()", "0[0]")  # where items hold the token itself


def token_of(item: Any) -> str:
    """Return the text of a token: a column, an attribute with one of the usual names, or the first one."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        named = next((item[key] for key in TOKEN_KEYS if key in item), None)
        return str(named if named is not None else next(iter(item), ""))
    names = [str(name) for name in item]
    starts = tuple(f"{key}=" for key in TOKEN_KEYS)
    found = next((name for name in names if name.startswith(starts)), None)
    return found.split("=", 1)[1] if found else (names[0] if names else "")
