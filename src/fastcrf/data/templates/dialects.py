"""The three kinds of template files: how they are distinguished and read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.data.templates import crfpp, crfsuite, wapiti
from fastcrf.data.templates.template import Padding, Template, template_error
from fastcrf.exceptions import DataError

BUILT_IN = {"crfsuite-chunking": ("crfsuite", crfsuite.CHUNKING)}
SCRIPT = re.compile(r"^\s*templates\s*=", re.MULTILINE)
WAPITI_ONLY = re.compile(r"^[ub*]|%[XtTmM]|%x\[(@|\s*\+|\s)", re.MULTILINE)


class Dialect(NamedTuple):
    parse: Callable[[list[str], str], list[Template]]
    padding: Padding


DIALECTS = {
    "crfpp": Dialect(crfpp.parse, crfpp.PADDING),
    "wapiti": Dialect(wapiti.parse, wapiti.PADDING),
    "crfsuite": Dialect(crfsuite.parse, crfsuite.PADDING),
}


class TemplateFile(NamedTuple):
    """A parsed template file. A model stores its kind and text."""

    kind: str
    text: str
    templates: tuple[Template, ...]  # those that make attributes
    transitions: bool  # whether it asks for weights of label bigrams

    @property
    def padding(self) -> Padding:
        return DIALECTS[self.kind].padding


def load_template(path: str | os.PathLike[str], kind: str | None = None) -> TemplateFile:
    """Load a template file, or a template that comes with fastcrf, by its name. The kind is detected if it is None."""
    built_in = BUILT_IN.get(os.fspath(path))
    if built_in:
        return parse_template(built_in[1], built_in[0], os.fspath(path))
    name = name_of(path)
    text = "\n".join(read_lines(path, name))
    return parse_template(text, kind or recognize(text), name)


def template_of(given: str | os.PathLike[str]) -> TemplateFile:
    """Load a template from a file, by its name, or from a text that has line ends or macros."""
    text = os.fspath(given)
    if isinstance(given, str) and ("\n" in text or "%" in text):
        return parse_template(text, recognize(text))
    return load_template(given)


def recognize(text: str) -> str:
    """Return the kind of a template. A text that CRF++ and Wapiti would both read counts as CRF++'s."""
    if SCRIPT.search(text):
        return "crfsuite"
    return "wapiti" if WAPITI_ONLY.search(text) else "crfpp"


def parse_template(text: str, kind: str, name: str = "template") -> TemplateFile:
    """Parse the templates in a text; `name` is its name in errors."""
    if kind not in DIALECTS:
        raise DataError(f"There is no kind of template {kind!r}; use one of {', '.join(DIALECTS)}.")
    every = DIALECTS[kind].parse(text.split("\n"), name)
    bigrams = [template for template in every if template.scope != "u"]
    for template in bigrams:
        refuse_observations(template)
    for template in bigrams[1:]:
        raise template_error(template.place, 1, "this is the second template of the label bigram; delete one of them.")
    unigrams = tuple(template for template in every if template.scope != "b")
    if not unigrams:
        raise DataError(f"{name} holds no template with the label alone, such as U00:%x[0,0]; add one.")
    return TemplateFile(kind, text, unigrams, bool(bigrams))


def refuse_observations(template: Template) -> None:
    """Reject weights for an observation with a label bigram, which are not supported; a bigram without macros is."""
    if template.cells:
        first = template.pieces[0]
        column = 1 + (len(first) if isinstance(first, str) else 0)
        raise template_error(
            template.place,
            column,
            "bigram templates with macros come later; use a plain B or b, and U or u for the macros.",
        )
