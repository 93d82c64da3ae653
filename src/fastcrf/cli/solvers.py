"""`fastcrf solvers`: the training algorithms, read from their registry."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def solvers(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list instead of text.")] = False,
) -> None:
    """List the training algorithms.

    For each: its paper, the penalties it handles, what it needs from the problem, what it promises, and its
    options with their defaults. Which one when: docs/how-to-choose.md; `auto`, the default, needs no choice.

    Examples:

    \b
    fastcrf solvers
    fastcrf solvers --json
    """
    from fastcrf.solvers.registry import describe, names

    descriptions = [describe(name) for name in names()]
    if as_json:
        import json

        typer.echo(json.dumps(descriptions, indent=2, default=str))
    else:
        typer.echo("\n\n".join(in_words(description) for description in descriptions))


def in_words(solver: dict[str, Any]) -> str:
    """One solver, a line for each thing to know of it."""
    options = ", ".join(f"{name}={value}" for name, value in solver["options"].items())
    lines = {
        "paper": solver["paper"],
        "penalties": ", ".join(solver["penalties"]),
        "needs": ", ".join(solver["needs"]),
        "promises": solver["promises"],
        "options": options or "none",
    }
    return "\n".join([typer.style(solver["name"], bold=True), *(f"  {key:10} {text}" for key, text in lines.items())])
