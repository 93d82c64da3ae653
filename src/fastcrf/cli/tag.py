"""`fastcrf tag`: columns in, columns and a label out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastcrf.cli.command_errors import refuse, tell

if TYPE_CHECKING:
    import typer  # main.py reads the declarations with it; a plain command line is read without it (quick.py)

    from fastcrf.cli.data_files import DataFiles, Unit
    from fastcrf.model import Model, Scored

AT_ONCE = 1000  # sequences that are tagged together


def tag(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Columns, plain or gzipped; - is standard input.")],
    model: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="A model of any format.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Add the probability of each label and, before each sequence, that of all its labels."
        ),
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add a label/probability column for every label.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each sequence instead of columns.")
    ] = False,
    items: Annotated[bool, typer.Option("--items", help="DATA is an item file in CRFsuite's format.")] = False,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="DIR", help="Write a file for each file of DATA into this folder.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip files whose result is already in --folder.")] = False,
    jobs: Annotated[int, typer.Option(help="Number of processes, for --folder.")] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Tag on Dask workers, for --folder: tcp://host:8786, or local:4. Needs fastcrf[dask].",
        ),
    ] = None,
) -> None:
    """Label the tokens of column files.

    Each line is printed with its columns, separated by tabs, and the label as an extra column. Blank lines and the
    comments of CoNLL-U stay, so line n of the output belongs to line n of the input. If the input already has a column
    of labels, it is kept. If a line is broken, its file and number are reported and nothing is written. For an item
    file only the labels are printed. --scores puts a line such as "# 0.912345" before each sequence. --json prints a
    line for each sequence: its tokens, its labels and their probabilities, and the spans that the labels mark with
    theirs. Several files are written one after another or, with --folder, each to a file of its own; these appear
    whole or not at all, and an interrupted run continues with --resume.

    Examples:

    \b
    fastcrf tag new.txt -m model.crf > tagged.txt
    fastcrf tag new.txt.gz -m model.crf -o tagged.txt
    fastcrf tag new.txt -m model.crf --scores --marginals
    fastcrf tag *.txt.gz -m model.crf --folder tagged --jobs 4 --resume
    fastcrf tag new.txt -m model.crf --json | jq -r '.spans[].text'
    echo "12 Oak Street, Springfield IL 62704" | tr ' ' '\\n' | fastcrf tag - -m model.crf
    """
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.output_file import whole_output
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.model import Model
    from fastcrf.notice import announce_compilation

    if as_json and scores:
        refuse("--scores", "is part of --json already; leave it out.")
    manner = Manner(scores, marginals, as_json, items)
    if folder is not None:
        tag_into(folder, data, model, output, manner, resume, jobs, cluster)
        return
    for option, given in (("--jobs", jobs != 1), ("--cluster", cluster), ("--resume", resume)):
        if given:
            refuse(option, "is for many files with results of their own; add --folder DIR.")
    for path in data:
        check_apart({"the data": path, "the model": model}, {"the output": output})
    with announce_compilation(), whole_output(output) as text:
        trained = Model.load(model)
        files = files_of(trained, items)
        for path in data:
            text.writelines(f"{line}\n" for line in result_lines(trained, files, path, manner))


class Manner(NamedTuple):
    """What is written of a file."""

    scores: bool = False
    marginals: bool = False
    as_json: bool = False
    items: bool = False


def tag_into(
    folder: str,
    data: list[str],
    model: str,
    output: str,
    manner: Manner,
    resume: bool,
    jobs: int,
    cluster: str | None,
) -> None:
    """Tag many files, each into a file of a folder."""
    from fastcrf.checks import whole
    from fastcrf.cli.tag_files import tag_all, tasks_of

    if output != "-":
        refuse("--output", "is one file, and --folder has many; leave one of them out.")
    tasks = tasks_of(data, model, folder, manner, resume)
    for done in tag_all(tasks, whole("jobs", jobs, 1), cluster):
        tell(done)


def result_lines(model: Model, files: DataFiles, path: str, manner: Manner) -> Iterator[str]:
    """The lines that are written of a file."""
    if manner.as_json:
        from fastcrf.cli.json_lines import json_lines

        return json_lines(model, files, path, manner.marginals)
    return tagged_lines(model, files, path, manner.scores, manner.marginals)


def tagged_lines(
    model: Model, files: DataFiles, path: str, scores: bool = False, marginals: bool = False
) -> Iterator[str]:
    """The lines of a file, each with its label and what else is asked for; blank lines and comments stay.

    With `scores` a line with the probability of the labels comes before each sequence, and that of each label beside
    it; `marginals` are the probabilities of all labels.
    """
    from fastcrf.data.files.text_lines import name_of, read_lines

    name = name_of(path)
    lines = Counted(read_lines(path, name))
    units, done = files.units(lines, name), 0
    while batch := list(islice(units, AT_ONCE)):
        for unit, found in zip(batch, answers(model, batch, scores or marginals), strict=True):
            yield from lines.between(done, unit.line - 1)
            if scores:
                yield f"# {found.probability:.6f}"
            for t, columns in enumerate(unit.columns):
                yield "\t".join([*columns, *answer(found, t, scores, marginals)])
            done = unit.line - 1 + len(unit.columns)
    yield from lines.between(done, lines.count)


def answers(model: Model, batch: list[Unit], with_probabilities: bool) -> list[Scored]:
    """Labels of each sequence, with probabilities if they are needed."""
    from fastcrf.model import Scored

    sequences = [unit.sequence for unit in batch]
    if with_probabilities:
        return model.scored(sequences)
    return [Scored(labels, 1.0, []) for labels in model.tag(sequences)]


def answer(found: Scored, t: int, scores: bool, marginals: bool) -> list[str]:
    """The columns that are added to token t."""
    label: Any = found.labels[t]
    columns = [str(label)]
    if scores:
        columns.append(f"{found.marginals[t][label]:.6f}")
    if marginals:
        columns += [f"{each}/{probability:.6f}" for each, probability in found.marginals[t].items()]
    return columns


class Counted:
    """Lines, how many of them have been read, and those that may be comments."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines, self.count = lines, 0
        self.marked: dict[int, str] = {}  # by number, counted from 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            if line[:1] == "#":
                self.marked[self.count] = line
            self.count += 1
            yield line

    def between(self, done: int, end: int) -> Iterator[str]:
        """The lines from `done` to before `end`, which no sentence claims: blank lines and comments."""
        return (self.marked.get(number, "") for number in range(done, end))
