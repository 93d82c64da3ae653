"""The lines that `fastcrf tag` writes of a file, in any of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.tagging.nbest_lines import nbest_lines
from fastcrf.cli.tagging.tagged_lines import TagFormat, json_lines, span_lines, tagged_lines
from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.data.sources.json_lines import is_json_lines

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles
    from fastcrf.data.files.text_lines import ShareRead
    from fastcrf.model.model import Model


def result_lines(
    model: Model, files: DataFiles, path: str, tag_format: TagFormat, progress: ShareRead | None = None
) -> Iterator[str]:
    """Return the lines that are written of a file. A file without sequences gets a note on standard error."""
    name = name_of(path)
    read = read_lines(path, name, progress)
    if tag_format.nbest is not None:
        return nbest_lines(model, files, read, name, tag_format)
    if is_json_lines(name) and tag_format.spans:
        refuse("--spans", "prints lines of column files; remove it, and the objects of JSON lines have their spans.")
    if tag_format.as_json or is_json_lines(name):
        return json_lines(model, files, read, name, tag_format)
    if tag_format.spans:
        return span_lines(model, files, read, name, tag_format)
    return tagged_lines(model, files, read, name, tag_format)
