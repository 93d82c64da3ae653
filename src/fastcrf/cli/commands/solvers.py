"""`fastcrf solvers`: the training algorithms, read from their registry."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def solvers(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list instead of text.")] = False,
) -> None:
    """List the training algorithms.

    The core comes first: solvers for training models; `auto` is the default. The laboratory has published algorithms
    to read and compare. For each solver the list has its paper, the penalties it handles, what it
    needs from the problem, its guarantee, and its options with their defaults.

    Examples:

    \b
    fastcrf solvers
    fastcrf solvers --json
    """
    from fastcrf.solvers.registry import TIERS, describe, names

    descriptions = [describe(name) for name in names()]
    if as_json:
        import json

        typer.echo(json.dumps(descriptions, indent=2, default=str))
    else:
        for tier, purpose in TIERS.items():
            typer.echo(f"{tier.upper()}: {purpose}\n")
            typer.echo("".join(f"{in_words(each)}\n\n" for each in descriptions if each["tier"] == tier), nl=False)


def in_words(solver: dict[str, Any]) -> str:
    """Return the description of one solver, one property per line."""
    options = ", ".join(f"{name}={value}" for name, value in solver["options"].items())
    lines = {
        "paper": solver["paper"],
        "penalties": ", ".join(solver["penalties"]),
        "needs": ", ".join(solver["needs"]),
        "guarantee": solver["guarantee"],
        "options": options or "none",
    }
    return "\n".join([typer.style(solver["name"], bold=True), *(f"  {key:10} {text}" for key, text in lines.items())])
