"""`fastcrf rank`: the sequences that a model is least sure of, to annotate next."""

from __future__ import annotations

from typing import Annotated

import typer

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.options.shared_options import DATA, Items, Separator


def rank(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Read columns, plain or gzipped; - is standard input.", rich_help_panel=DATA
        ),
    ],
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="FILE", help="Read this model, of any format.", rich_help_panel=DATA),
    ],
    by: Annotated[
        str, typer.Option(metavar="MEASURE", help="Measure uncertainty by entropy, margin or least_confident.")
    ] = "entropy",
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Allow for length: measure uncertainty per token.")
    ] = False,
    top: Annotated[int | None, typer.Option(min=1, help="Print only this many.  [default: all]")] = None,
    constraints: Annotated[
        str,
        typer.Option(metavar="NAME", help="Allow what a scheme (BIO, IOB1, BIOES, BILOU) or a JSON file allows; none."),
    ] = "model",
    items: Items = False,
    separator: Separator = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output.")
    ] = "-",
) -> None:
    """Rank sequences by how unsure a model is of their labels: what to annotate next.

    Prints a line for each sequence, the most uncertain first, with tabs between the measure, the file, the number of
    its first line, and its tokens. The entropy is that of the distribution over all label sequences, in nats. The
    margin is the probability of the best label sequence minus that of the second best one; small margins come first.
    least_confident is the probability that the best label sequence is wrong. Without --per-token, long sequences come
    first.

    Examples:

    \b
    fastcrf rank pool.txt -m model.crf --top 100
    fastcrf rank pool*.txt.gz -m model.crf --by margin --per-token -o ranked.txt
    """
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.output_file import whole_output
    from fastcrf.cli.tagging.label_choice import read_constraints
    from fastcrf.cli.tagging.ranked_lines import ranked_lines
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.model.model import Model
    from fastcrf.model.ranking import MEASURES

    if by not in MEASURES:
        refuse("--by", f"must be {', '.join(MEASURES)}; got {by!r}.")
    allowed = read_constraints(constraints)
    for path in data:
        check_apart({"the data": path, "the model": model}, {"the output": output})
    with announce_compilation(), whole_output(output) as text:
        trained = Model.load(model)
        lines = ranked_lines(trained, files_of(trained, items, separator), data, by, per_token, allowed)
        text.writelines(f"{line}\n" for line in lines[:top])
