"""Plain help in panels: the options of a command in groups, in the order of their declaration."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

REST = "Output"  # where options without a panel are, such as --help


class InPanels(TyperCommand):
    """A command whose plain help prints each panel of options under its name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panels.setdefault(getattr(parameter, "rich_help_panel", None) or REST, []).append(record)
        for name, records in panels.items():
            with formatter.section(name):
                formatter.write_dl(records)
