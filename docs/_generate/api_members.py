"""Which members of a class the API pages show."""

from __future__ import annotations

from typing import Any


def skip_foreign(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from other packages, such as scikit-learn's metadata routing."""
    if (getattr(member, "__doc__", None) or "").startswith("Alias for field number"):
        return True  # of a NamedTuple; its class describes the fields
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    home = getattr(function, "__module__", None)
    return True if what == "class" and home is not None and not home.startswith("fastcrf") else None
