"""`fastcrf dump`: a model as text."""

from __future__ import annotations

from typing import Annotated

import typer


def dump(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Read this model, of any format.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output.")
    ] = "-",
) -> None:
    """Print a model: labels, attributes and every weight that is not 0, as `crfsuite dump` does.

    Of a .crfsuite file the text is CRFsuite's, byte for byte; of another model it is that of the .crfsuite file that
    `fastcrf convert` would write.

    Examples:

    \b
    fastcrf dump model.crf
    fastcrf dump model.crfsuite -o model.txt
    """
    from fastcrf.cli.output_file import whole_output
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.interchange.crfsuite_dump import dump_lines
    from fastcrf.model.model import Model

    check_apart({"the model": model}, {"the output": output})
    with whole_output(output) as text:
        text.writelines(f"{line}\n" for line in dump_lines(Model.load(model).to_bytes("crfsuite")))
