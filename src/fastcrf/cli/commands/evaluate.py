"""`fastcrf evaluate`: compare a model's labels with those in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from fastcrf.cli.options.shared_options import DATA, Items, Separator


def evaluate(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Read a column file with the label last; - is standard input.", rich_help_panel=DATA
        ),
    ],
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="FILE", help="Score this model, of any format.", rich_help_panel=DATA),
    ],
    items: Items = False,
    separator: Separator = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Score a model on labeled data.

    Prints the accuracy of tokens and of whole sequences, and the precision, recall and F1 of segments, overall and by
    type, as conlleval counts them. Labels such as B-NP, I-NP and O mark segments (IOB, IOBES and BILOU are understood);
    with other labels, each run of equal labels is a segment.

    Examples:

    \b
    fastcrf evaluate test.txt -m model.crf
    fastcrf evaluate test.txt.gz -m model.crf --json
    """
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.reading_bar import read_labeled
    from fastcrf.cli.reports import scores_in_words, scores_of, types_in_words
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.model.model import Model

    trained = Model.load(model)
    labeled = read_labeled(files_of(trained, items, separator), data)
    with announce_compilation():
        predicted = trained.predict(labeled.X)
    scores = scores_of(list(labeled.y), predicted)
    if as_json:
        import json

        typer.echo(json.dumps(scores, indent=2))
    else:
        typer.echo(f"{scores_in_words(scores)}\n\n{types_in_words(scores)}")
