"""`fastcrf report`: one HTML page about a model and its predictions."""

from __future__ import annotations

from typing import Annotated

import typer

from fastcrf.cli.options.shared_options import DATA, Items, Separator


def report(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Report on this model, of any format.", rich_help_panel=DATA)
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Read a column file with the label last; - is standard input.", rich_help_panel=DATA
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write the page to this file.")],
    items: Items = False,
    separator: Separator = None,
    top: Annotated[int, typer.Option(min=1, help="Show this many attributes per label.")] = 10,
    mistakes: Annotated[int, typer.Option(min=0, help="Show this many sequences with wrong labels.")] = 50,
    title: Annotated[str | None, typer.Option(help="Headline of the page.  [default: MODEL on DATA]")] = None,
) -> None:
    """Write a report on a model: one HTML page that works offline.

    It has the scores by label and by segment, the confusion matrix, the calibration of probabilities, the strongest
    attributes and transitions, the sequences with wrong labels, how training ended, and the certificate.

    Examples:

    \b
    fastcrf report model.crf test.txt -o report.html
    fastcrf report model.crf test.txt -o report.html --top 20 --mistakes 200
    """
    import os
    import time

    from fastcrf import __version__
    from fastcrf.cli.command_errors import tell
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.output_file import whole_output
    from fastcrf.cli.reading_bar import read_labeled
    from fastcrf.data.files.text_lines import name_of
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.model.model import Model
    from fastcrf.report.page import report_page

    trained = Model.load(model)
    labeled = read_labeled(files_of(trained, items, separator), data)
    with announce_compilation():
        page = report_page(
            trained,
            labeled.X,
            labeled.y,
            title=title or f"{os.path.basename(model)} on {os.path.basename(name_of(data))}",
            made=f"fastcrf {__version__}, {time.strftime('%Y-%m-%d')}",
            facts=(("model", model), ("data", name_of(data))),
            top=top,
            mistakes=mistakes,
        )
    with whole_output(output) as file:
        file.write(page)
    if output != "-":
        tell(f"wrote {output}")
