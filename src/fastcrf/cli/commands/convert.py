"""`fastcrf convert`: a model of one format in, of another out."""

from __future__ import annotations

from typing import Annotated

import typer


def convert(
    source: Annotated[
        str, typer.Argument(metavar="MODEL", help="Read this model of fastcrf, CRFsuite, CRF++ or Wapiti.")
    ],
    target: Annotated[str, typer.Argument(metavar="FILE", help="Save the model to this file.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE even if it is not a model.")] = False,
) -> None:
    """Save a model in another format.

    A FILE that ends in .crfsuite gets CRFsuite's format, any other fastcrf's own. Models of CRF++ (as text, which
    `crf_learn -t` writes) and of Wapiti keep their template or patterns, and tag raw columns. CRFsuite's format
    holds neither a template nor how a model was trained: data that CRFsuite tags with it must have the attributes that
    the template would make.

    Examples:

    \b
    fastcrf convert model.crfsuite model.crf
    fastcrf convert model.crf model.crfsuite
    fastcrf convert crfpp-model.txt model.crf
    fastcrf convert wapiti-model model.crf
    """
    from fastcrf.data.files.destinations import MODELS, check_apart, check_ours
    from fastcrf.model.model import Model
    from fastcrf.system.atomic_write import check_replaceable

    check_apart({"the model": source}, {"the new model": target})
    check_replaceable(target)
    if not force:
        check_ours(target, MODELS)
    model = Model.load(source)
    model.save(target)
    if target.endswith(".crfsuite") and model.input.get("kind") != "items":
        typer.echo(
            f"{target} holds labels, attributes and weights, but not how attributes are made of columns; give CRFsuite "
            "the attributes themselves.",
            err=True,
        )
