"""Map options and state entries of development versions before 0.1.0 to their present names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPTIONS = {
    "batch": "batch_size",
    "caution": "step_divisor",
    "globalisation": "globalization",
    "metric": "preconditioner",
}
OPTIONS_OF = {("bcd", "caution"): "kappa", ("smd", "memory"): "decay"}  # of one solver
STATE = {
    "batch": "batch_size",
    "centre": "center",
    "drawn": "sampled",
    "favour": "favor",
    "slopes_before": "gradient_before",
}
# Removed options, with the value of the present behavior; any other value is an unknown option.
REMOVED_OPTIONS = {
    ("newton-l1", "max_products"): 50,
    ("newton-l1", "steady"): 0.0,
    ("rprop", "sparse"): "orthant",
    ("rprop-", "sparse"): "orthant",
    ("staggered-aitken", "direction"): "gradient",
}
REMOVED_STATE = {("newton-l1", "on_face")}


def renamed_options(solver: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved options of a solver under their present names."""
    return {
        OPTIONS_OF.get((solver, name), OPTIONS.get(name, name)): value
        for name, value in options.items()
        if (solver, name) not in REMOVED_OPTIONS or value != REMOVED_OPTIONS[solver, name]
    }


def renamed_state(solver: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved state of a solver under its present names."""
    return {STATE.get(name, name): value for name, value in state.items() if (solver, name) not in REMOVED_STATE}
