"""What `fastcrf train` learns from: a kind of files, and the attributes that are made of them."""

from __future__ import annotations

from typing import NamedTuple

import typer

from fastcrf.cli.inputs import ColumnFiles, Files, ItemFiles
from fastcrf.data.attributes import Attributes
from fastcrf.data.corpus import NO_ITEMS
from fastcrf.data.templates.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import load_template


class Source(NamedTuple):
    files: Files
    attributes: Attributes = NO_ITEMS  # none yet, of the right kind
    transitions: bool = True  # whether pairs of labels have weights


def source_of(template: str | None, template_kind: str | None, items: bool) -> Source:
    """The source that the options of the command ask for."""
    if template_kind and not template:
        raise typer.BadParameter("says the kind of a template; add --template FILE.", param_hint="--template-kind")
    if items and template:
        raise typer.BadParameter("is for columns, and --items are not; leave one out.", param_hint="--template")
    if items:
        return Source(ItemFiles())
    if not template:
        return Source(ColumnFiles())
    loaded = load_template(template, template_kind)
    attributes = TemplateAttributes.empty(loaded)
    files = ColumnFiles(raw=True, n_needed=attributes.programme.n_columns)
    return Source(files, attributes, loaded.transitions)
