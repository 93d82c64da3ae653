"""Options that several commands have, declared once, and the panels of their help."""

from __future__ import annotations

from typing import Annotated

import typer

DATA, FEATURES, PENALTY, ALGORITHM, STOPPING = "Data", "Features", "Penalty", "Algorithm", "Stopping"
SAVING, ONLINE, CLUSTER, OUTPUT = "Saving and resuming", "Online", "Cluster", "Output"

Template = Annotated[
    str | None,
    typer.Option(
        "--template",
        "-t",
        metavar="FILE",
        help="Make attributes with a template: a file, or crfsuite-chunking.",
        rich_help_panel=DATA,
    ),
]
TemplateKind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND", help="Read the template as crfpp, wapiti or crfsuite.  [default: detect]", rich_help_panel=DATA
    ),
]
Items = Annotated[
    bool, typer.Option("--items", help="Read DATA as item files in CRFsuite's format.", rich_help_panel=DATA)
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Split columns at this: tab, space or a character.  [default: as the file shows]",
        rich_help_panel=DATA,
    ),
]
Fields = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Read these fields of JSON lines: tokens, columns, labels.  [default: tokens,labels]",
        rich_help_panel=DATA,
    ),
]
Boundaries = Annotated[
    bool,
    typer.Option(
        "--boundaries", help="Give transition weights to the start and the end of a sequence.", rich_help_panel=FEATURES
    ),
]
NJobs = Annotated[
    int | None,
    typer.Option(
        help="Use this many threads, or shards on a cluster.  [default: all cores]",
        rich_help_panel=ALGORITHM,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUTPUT)]
