"""CRFsuite's templates: the tuples of its example scripts.

In a script such as CRFsuite's chunking.py they are

    fields = 'w pos y'                                 # names of the columns; y is the label
    templates = ((('w', -1), ), (('w', 0), ('w', 1)))  # (name, offset), ...

and give ``w[-1]=the`` and ``w[0]|w[1]=cat|sat``. A template that reaches outside the sentence gives nothing; the first
token has ``__BOS__``, the last ``__EOS__``. The script is read, never run: both must be literals.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from typing import Any

from fastcrf.data.templates.template import Cell, Padding, Piece, Template, template_error
from fastcrf.exceptions import DataError

PADDING = Padding(before=(None,), after=(None,))
FARTHEST = 1000
LABEL = "y"

CHUNKING = """\
fields = "w pos y"
templates = (
    (("w", -2),), (("w", -1),), (("w", 0),), (("w", 1),), (("w", 2),),
    (("w", -1), ("w", 0)), (("w", 0), ("w", 1)),
    (("pos", -2),), (("pos", -1),), (("pos", 0),), (("pos", 1),), (("pos", 2),),
    (("pos", -2), ("pos", -1)), (("pos", -1), ("pos", 0)), (("pos", 0), ("pos", 1)), (("pos", 1), ("pos", 2)),
    (("pos", -2), ("pos", -1), ("pos", 0)),
    (("pos", -1), ("pos", 0), ("pos", 1)),
    (("pos", 0), ("pos", 1), ("pos", 2)),
)
"""


def parse(lines: Iterable[str], name: str) -> list[Template]:
    """Parse the templates in the lines of a script called `name`; add those of both ends and of the label bigram."""
    script = assignments("\n".join(lines), name)
    fields = field_names(script, name)
    value = required(script, "templates", name)
    if not isinstance(value, (ast.Tuple, ast.List)):
        raise fault_at(value, name, "templates must be a tuple of templates.")
    templates = [parse_template(node, fields, name) for node in value.elts]
    first = Template("u", ("__BOS__",), name, where="first")
    last = Template("u", ("__EOS__",), name, where="last")
    return [*templates, first, last, Template("b", (), name)]


def assignments(text: str, name: str) -> dict[str, ast.expr]:
    """Return what each name at the top of the script is set to, unevaluated."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what else the script does is none of our business
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        raise template_error(f"{name}:{line}", column, "this is not a script with templates = (...).") from None
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {target.id: node.value for node in assigned for target in node.targets if isinstance(target, ast.Name)}


def field_names(script: dict[str, ast.expr], name: str) -> dict[str, int]:
    """Return the column of each field; the label has none."""
    value = required(script, "fields", name)
    names = literal(value, name)
    if not isinstance(names, str):
        raise fault_at(value, name, "fields must be the names of the columns in one string, such as 'w pos y'.")
    return {field: column for column, field in enumerate(names.split()) if field != LABEL}


def parse_template(node: ast.expr, fields: dict[str, int], name: str) -> Template:
    pairs: Any = literal(node, name)
    for pair in pairs if isinstance(pairs, (tuple, list)) and pairs else [None]:
        if not isinstance(pair, (tuple, list)) or [type(part) for part in pair] != [str, int]:
            raise fault_at(
                node, name, "a template must be pairs of a field and an offset, such as (('w', -1), ('w', 0))."
            )
        if pair[0] not in fields:
            raise fault_at(node, name, f"there is no field {pair[0]!r}; fields are {', '.join(fields)}.")
        if abs(pair[1]) > FARTHEST:
            raise fault_at(node, name, f"offset {pair[1]} is more than {FARTHEST:,} tokens away.")
    pieces: list[Piece] = ["|".join(f"{field}[{offset}]" for field, offset in pairs) + "="]
    for i, (field, offset) in enumerate(pairs):
        pieces += ["|"] * (i > 0) + [Cell(offset, fields[field])]
    return Template("u", tuple(pieces), f"{name}:{node.lineno}")


def literal(node: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        raise fault_at(node, name, "fields and templates must be literals; the script is read, not run.") from None


def required(script: dict[str, ast.expr], variable: str, name: str) -> ast.expr:
    if variable not in script:
        raise template_error(f"{name}:1", 1, f"the script sets no {variable}; see docs/how-to/templates.md.")
    return script[variable]


def fault_at(node: ast.expr, name: str, fault: str) -> DataError:
    return template_error(f"{name}:{node.lineno}", node.col_offset + 1, fault)
