"""`fastcrf tag`: columns in, columns and a label out."""

from __future__ import annotations

from typing import Annotated

import typer


def tag(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Columns, plain or gzipped; - is standard input.")],
    model: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="A model that `fastcrf train` made.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the probability of each label, and before a sequence that of all.")
    ] = False,
    marginals: Annotated[bool, typer.Option("--marginals", help="Add label/probability for every label.")] = False,
    items: Annotated[bool, typer.Option("--items", help="DATA is an item file, as CRFsuite reads them.")] = False,
) -> None:
    """Label the tokens of a column file.

    Each line is printed with its columns, separated by tabs, and the label as one column more; blank lines stay, so
    line n of the output belongs to line n of the input. The input may have a column of labels already: it is kept. If
    a line is broken, its file and number are reported and nothing is written. Of an item file the labels alone are
    printed. --scores puts a line such as "# 0.912345" before each sequence.

    Examples:

    \b
    fastcrf tag new.txt -m model.crf > tagged.txt
    fastcrf tag new.txt.gz -m model.crf -o tagged.txt
    fastcrf tag new.txt -m model.crf --scores --marginals
    echo "12 Oak Street, Springfield IL 62704" | tr ' ' '\\n' | fastcrf tag - -m model.crf
    """
    from fastcrf.cli.inputs import files_of
    from fastcrf.cli.output import whole_output
    from fastcrf.cli.tagging import tagged_lines
    from fastcrf.data.destinations import check_apart
    from fastcrf.model import Model
    from fastcrf.training.compiling import announce_compilation

    check_apart({"the data": data, "the model": model}, {"the output": output})
    with announce_compilation(), whole_output(output) as text:
        trained = Model.load(model)
        lines = tagged_lines(trained, files_of(trained, items), data, scores, marginals)
        text.writelines(f"{line}\n" for line in lines)
