"""`fastcrf tag`: columns in, columns and a label out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from fastcrf.cli.command_errors import refuse, tell

if TYPE_CHECKING:
    import typer  # main.py reads the declarations with it; a plain command line is read without it (quick.py)

    from fastcrf.cli.tagging.label_choice import LabelChoice
    from fastcrf.cli.tagging.tagged_lines import TagFormat


def tag(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Read columns, plain or gzipped; - is standard input.", rich_help_panel="Data"
        ),
    ],
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="FILE", help="Read this model, of any format.", rich_help_panel="Data"),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add the probability of each label and of each label sequence."),
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add a label/probability column for every label.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each sequence instead of columns.")
    ] = False,
    spans: Annotated[
        bool, typer.Option("--spans", help="Print a line for each segment, with its place and probability.")
    ] = False,
    constraints: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Allow what a scheme (BIO, IOB1, BIOES, BILOU) or a JSON file allows; none.",
            rich_help_panel="Labels",
        ),
    ] = "model",
    given: Annotated[
        bool,
        typer.Option("--given", help="Keep the labels of the last column; ? is unknown.", rich_help_panel="Labels"),
    ] = False,
    decode: Annotated[
        str,
        typer.Option(metavar="WAY", help="Choose labels by viterbi, marginal or mbr.", rich_help_panel="Labels"),
    ] = "viterbi",
    max_segments: Annotated[
        int | None, typer.Option(help="Find at most this many segments of each type.", rich_help_panel="Labels")
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(metavar="N", help="Print the N best label sequences of each sequence.", rich_help_panel="Labels"),
    ] = None,
    nbest_form: Annotated[
        str,
        typer.Option(metavar="FORM", help="Print them as crfpp or wapiti does.", rich_help_panel="Labels"),
    ] = "crfpp",
    items: Annotated[
        bool, typer.Option("--items", help="Read DATA as item files in CRFsuite's format.", rich_help_panel="Data")
    ] = False,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHAR",
            help="Split columns at this: tab, space or a character.  [default: as the file shows]",
            rich_help_panel="Data",
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="Write a file for each file of DATA into this folder.",
            rich_help_panel="Many files",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Skip files whose result is already in --folder.", rich_help_panel="Many files"),
    ] = False,
    n_jobs: Annotated[
        int, typer.Option(help="Use this many processes, for --folder.", rich_help_panel="Many files")
    ] = 1,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Tag on Dask workers: tcp://host:8786 or local:4 (needs fastcrf[dask]).",
            rich_help_panel="Many files",
        ),
    ] = None,
) -> None:
    """Label the tokens of column files.

    Each line is printed with its columns, separated by tabs, and the label as an extra column. Blank lines and the
    comments of CoNLL-U stay, so line n of the output belongs to line n of the input. If the input already has a column
    of labels, it is kept. A wrong line is reported with its file and number, and nothing is written. For an item file
    only the labels are printed. Of JSON lines (.jsonl), which have a list of tokens per line, the result is JSON.
    --scores puts a line such as "# 0.912345" before each sequence. --json prints a line for each sequence: its tokens,
    its labels and their probabilities, and the spans that the labels mark with theirs, which --spans prints alone.
    Constraints that are saved in the model apply unless --constraints says otherwise. --nbest prints a block for each
    label sequence, after a line such as "# 0 0.912345" with its rank and probability, as crf_test -n does; --scores
    adds the probability of each label. In the form of Wapiti, only --scores prints these lines. With --json, an object
    has the line, the tokens and "nbest". Several files are written one after another or, with --folder, each to a file
    of its own; these are written atomically, and an interrupted run continues with --resume.

    Examples:

    \b
    fastcrf tag new.txt -m model.crf > tagged.txt
    fastcrf tag new.txt.gz -m model.crf -o tagged.txt
    fastcrf tag new.txt -m model.crf --scores --marginals
    fastcrf tag *.txt.gz -m model.crf --folder tagged --n-jobs 4 --resume
    fastcrf tag new.txt -m model.crf --spans --constraints BIO
    fastcrf tag checked.txt -m model.crf --given
    fastcrf tag new.txt -m model.crf --nbest 5
    fastcrf tag new.txt -m model.crf --json | jq -r '.spans[].text'
    echo "12 Oak Street, Springfield IL 62704" | tr ' ' '\\n' | fastcrf tag - -m model.crf
    """
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.output_file import whole_output
    from fastcrf.cli.reading_bar import Bar, watched
    from fastcrf.cli.tagging.label_choice import LabelChoice, read_constraints
    from fastcrf.cli.tagging.result_lines import result_lines
    from fastcrf.cli.tagging.tagged_lines import TagFormat
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.data.files.text_lines import name_of
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.model.model import Model

    if as_json and scores:
        refuse("--scores", "is part of --json; remove it.")
    if spans and (as_json or scores or marginals):
        refuse("--spans", "cannot be combined with --json, --scores or --marginals; remove one of them.")
    if given and items:
        refuse("--given", "reads a column, but --items means item files; remove one of them.")
    choice = LabelChoice(constraints, given, decode, max_segments)
    read_constraints(constraints)
    check_nbest(nbest, nbest_form, choice, spans or marginals)
    tag_format = TagFormat(scores, marginals, as_json, items, separator, spans, choice, nbest, nbest_form)
    if folder is not None:
        tag_into(folder, data, model, output, tag_format, resume, n_jobs, engine)
        return
    for option, is_given in (("--n-jobs", n_jobs != 1), ("--engine", engine), ("--resume", resume)):
        if is_given:
            refuse(option, "requires --folder DIR.")
    for path in data:
        check_apart({"the data": path, "the model": model}, {"the output": output})
    with announce_compilation(), whole_output(output) as text:
        trained = Model.load(model)
        files = files_of(trained, items, separator)
        for path in data:
            bar = Bar(name_of(path), quiet=output == "-" and sys.stdout.isatty(), verb="tagging")
            text.writelines(f"{line}\n" for line in watched(result_lines(trained, files, path, tag_format, bar), bar))


def check_nbest(nbest: int | None, form: str, choice: LabelChoice, others: bool) -> None:
    """Report options that --nbest cannot be combined with, and wrong values of it and of --nbest-form."""
    from fastcrf.cli.tagging.nbest_lines import FORMS

    if form not in FORMS:
        refuse("--nbest-form", f"must be {' or '.join(FORMS)}; got {form!r}.")
    if nbest is None:
        return
    if nbest < 1:
        refuse("--nbest", f"must be at least 1; got {nbest}.")
    if others or choice.decode != "viterbi" or choice.max_segments is not None:
        refuse(
            "--nbest", "cannot be combined with --spans, --marginals, --decode or --max-segments; remove one of them."
        )


def tag_into(
    folder: str,
    data: list[str],
    model: str,
    output: str,
    tag_format: TagFormat,
    resume: bool,
    n_jobs: int,
    engine: str | None,
) -> None:
    """Tag many files, each into a file of a folder."""
    from fastcrf.cli.tagging.tag_files import tag_all, tasks_of
    from fastcrf.core.checks import whole
    from fastcrf.training.count_bar import CountBar

    if output != "-":
        refuse("--output", "is one file and --folder has many; remove one of them.")
    tasks = tasks_of(data, model, folder, tag_format, resume)
    with CountBar("tagging", len(tasks)) as bar:
        for done in tag_all(tasks, whole("n_jobs", n_jobs, 1), engine):
            bar.advance(done)
            if not bar.visible:
                tell(done)
