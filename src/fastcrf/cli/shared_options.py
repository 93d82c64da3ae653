"""Options that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

Template = Annotated[
    str | None,
    typer.Option(
        "--template",
        "-t",
        metavar="FILE",
        help="Make attributes with a template of CRF++, Wapiti or CRFsuite: a file, or crfsuite-chunking.",
    ),
]
TemplateKind = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="crfpp, wapiti or crfsuite.  [default: recognized from the template]"),
]
Items = Annotated[bool, typer.Option("--items", help="DATA are item files in CRFsuite's format.")]
Boundaries = Annotated[
    bool, typer.Option("--boundaries", help="Give the start and the end of a sequence weights of their own.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
