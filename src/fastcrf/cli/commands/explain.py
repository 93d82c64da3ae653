"""`fastcrf explain`: why a token has its label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.options.shared_options import DATA, Items, Separator

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles, Unit

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title></head>
<body>
{content}
</body>
</html>
"""


def explain(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Read columns, plain or gzipped; - is standard input.", rich_help_panel=DATA
        ),
    ],
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="FILE", help="Read this model, of any format.", rich_help_panel=DATA),
    ],
    line: Annotated[int, typer.Option(min=1, help="Explain the token on this line of DATA.")],
    to: Annotated[
        int | None, typer.Option(min=1, help="Explain all tokens from --line to this line of the same sequence.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Compare with this label.  [default: the next best]")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a page with colored tokens to this file.")
    ] = None,
    items: Items = False,
    separator: Separator = None,
) -> None:
    """Explain the label of a token: what speaks for it, and what for another.

    Prints a table with the contributions of attributes and transitions, the largest first. They add up to the
    difference of the scores of two label sequences: the best one, and the best one with another label at the token, or
    with the label --against. The difference is the log of how many times as probable the best one is.

    Examples:

    \b
    fastcrf explain new.txt -m model.crf --line 12
    fastcrf explain new.txt -m model.crf --line 12 --to 14 --against O --html why.html
    """
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.output_file import whole_output
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.markup.parts import text_of
    from fastcrf.model.model import Model

    last = line if to is None else to
    if last < line:
        refuse("--to", f"must not be before --line {line}; got {last}.")
    if html is not None:
        check_apart({"the data": data, "the model": model}, {"the page": html})
    trained = Model.load(model)
    unit = unit_at(files_of(trained, items, separator), data, line, last)
    label: Any = None if against is None else {str(each): each for each in trained.labels}.get(against, against)
    with announce_compilation():
        found = trained.explain(unit.sequence, (line - unit.line, last - unit.line + 1), label)
    typer.echo(str(found))
    if html is not None:
        with whole_output(html) as file:
            file.write(PAGE.format(title=text_of(f"{data}, line {line}"), content=found._repr_html_()))


def unit_at(files: DataFiles, path: str, first: int, last: int) -> Unit:
    """Return the sequence of a file that has these lines."""
    from fastcrf.data.files.text_lines import name_of, read_lines
    from fastcrf.exceptions import DataError

    name = name_of(path)
    for unit in files.units(read_lines(path, name), name):
        if unit.line <= first and last < unit.line + len(unit.columns):
            return unit
    where = f"line {first}" if first == last else f"lines {first} to {last} in one sequence"
    raise DataError(f"{name} has no tokens at {where}; give the number of a line with a token.")
