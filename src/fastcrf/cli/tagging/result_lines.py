"""The lines that `fastcrf tag` writes of a file, in any of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastcrf.cli.tagging.nbest_lines import nbest_lines
from fastcrf.cli.tagging.tagged_lines import TagFormat, json_lines, span_lines, tagged_lines

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles
    from fastcrf.model.model import Model


def result_lines(model: Model, files: DataFiles, path: str, tag_format: TagFormat) -> Iterator[str]:
    """Return the lines that are written of a file. A file without sequences gets a note on standard error."""
    if tag_format.nbest is not None:
        return nbest_lines(model, files, path, tag_format)
    if tag_format.as_json:
        return json_lines(model, files, path, tag_format)
    if tag_format.spans:
        return span_lines(model, files, path, tag_format)
    return tagged_lines(model, files, path, tag_format)
