"""Pages of the commands, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from _generate.markdown import block, escaped, write_folder
from fastcrf.cli.main import app

EXIT_CODES = """## Exit codes

0
: Success.

1
: The data, the model or a file cannot be used.

2
: The command line is wrong.

3
: A bug in fastcrf. Set `FASTCRF_DEBUG=1` to see the traceback.

130
: Interrupted by Ctrl-C.
"""


def write_pages(folder: Path) -> None:
    """Write a page for each command, and their index."""
    commands = read_commands()
    pages = {file_of(name): page_of(name, command) for name, command in commands.items()}
    write_folder(folder, {"index.md": index_of(commands), **pages})


def read_commands() -> dict[str, TyperCommand]:
    """Return the commands by name; those of a group have two words, such as "papers run"."""
    found: dict[str, TyperCommand] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {f"{name} {second}": each for second, each in inner.items()} if inner else {name: command}
    return found


def file_of(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def index_of(commands: dict[str, TyperCommand]) -> str:
    rows = "\n\n".join(f"[`fastcrf {name}`]({file_of(name)})\n: {escaped(summary(c))}" for name, c in commands.items())
    tree = "\n".join(file_of(name) for name in commands)
    return (
        f"# Command line\n\n{rows}\n\n{EXIT_CODES}\nEvery command prints this help with `--help`.\n\n"
        f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )


def page_of(name: str, command: TyperCommand) -> str:
    context = context_of(name, command)
    usage = " ".join(["fastcrf", name, *command.collect_usage_pieces(context)])
    panels = "\n".join(
        f"## {panel}\n\n" + "\n".join(option(*record) for record in records)
        for panel, records in panels_of(command, context).items()
    )
    program = f"```{{program}} fastcrf {name}\n```"
    return f"# fastcrf {name}\n\n{block(usage)}\n\n{help_of(command)}\n\n{program}\n\n{panels}"


def context_of(name: str, command: TyperCommand) -> Any:
    return command.make_context(name, [], resilient_parsing=True)


def summary(command: TyperCommand) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n")[0]


def help_of(command: TyperCommand) -> str:
    """Return the help as Markdown: a paragraph after \\b is a block of commands."""
    parts = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(block(part[1:].strip(), "sh") if part.startswith("\b") else escaped(part) for part in parts)


def panels_of(command: TyperCommand, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the records of the help by panel, as `--help` groups them."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or "Output", []).append(record)
    return panels


def option(names: str, text: str) -> str:
    """Return an option; a plain <int> of typer reads as INT."""
    shown = re.sub(r"<(?:list\[)?(\w+)(?: range)?\]?>", lambda found: found[1].upper().replace("STR", "TEXT"), names)
    return f"````{{option}} {shown}\n{escaped(text)}\n````\n"
