"""`fastcrf encode`: files of any size in, an encoded corpus out, which training maps into memory."""

from __future__ import annotations

from typing import Annotated

import typer

from fastcrf.cli.options.shared_options import DATA, Boundaries, Fields, Items, Quiet, Separator, Template, TemplateKind


def encode(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Read column files with the label last; - is standard input.", rich_help_panel=DATA
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write the encoded corpus to this file.")
    ],
    template: Template = None,
    template_kind: TemplateKind = None,
    items: Items = False,
    separator: Separator = None,
    fields: Fields = None,
    boundaries: Boundaries = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace --output even if it is not an encoded corpus.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Encode training data that does not fit in memory.

    The files are read once, one after another. The encoded corpus holds everything that `fastcrf train` needs, which
    memory-maps it: memory holds the model and not the data. Encoding takes memory for the names of the attributes, not
    for the data.

    Examples:

    \b
    fastcrf encode train.txt -o corpus.fcc
    fastcrf encode part-*.txt.gz -o corpus.fcc --template template.txt
    zstd -dc train.txt.zst | fastcrf encode - -o corpus.fcc
    fastcrf train corpus.fcc -m model.crf --dev dev.txt
    """
    from fastcrf.cli.data_files import training_files
    from fastcrf.cli.reading_bar import read_labeled
    from fastcrf.data.corpus_file.writing import write_corpus
    from fastcrf.data.files.destinations import CORPUS, check_apart, check_ours
    from fastcrf.data.templates.dialects import BUILT_IN
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.system.atomic_write import check_replaceable

    reads = {f"training file {i}": path for i, path in enumerate(data, 1)}
    check_apart({**reads, "the template": None if template in BUILT_IN else template}, {"the encoded corpus": output})
    check_replaceable(output)
    if not force:
        check_ours(output, (CORPUS,))
    inputs = training_files(template, template_kind, items, boundaries, separator, fields)
    with announce_compilation():
        parts = (read_labeled(inputs.files, path, quiet) for path in data)
        written = write_corpus(output, parts, inputs.attributes, inputs.transitions, inputs.files.remembered)
    if not quiet:
        typer.echo(
            f"{written.sequences:,} sequences, {written.positions:,} tokens, {written.occurrences:,} attribute "
            f"occurrences; {written.labels:,} labels, {written.attributes:,} attributes; saved in {output}"
        )
