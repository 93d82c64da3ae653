"""The table of docs/how-to/from-crfsuite.md: CRFsuite's parameters in fastcrf.

`python tests/compat/switching_table.py` writes it into the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fastcrf.compat.pycrfsuite._meanings import Criterion, Feature, Ignored, Meaning, Option, Penalty
from fastcrf.compat.pycrfsuite._parameters import ALGORITHMS, ALIASES, FEATURES
from fastcrf.compat.pycrfsuite._plan import SOLVERS
from fastcrf.compat.sklearn_crfsuite.estimator import OF_THE_TRAINER
from fastcrf.solvers import registry

PAGE = Path(__file__).parents[2] / "docs" / "how-to/from-crfsuite.md"
REGION = re.compile(r"(<!-- table: from_crfsuite -->\n).*?(<!-- end of table -->)", re.DOTALL)

SHORT = {long: short for short, long in ALIASES.items()}
NO_LIMIT = 2**31 - 1
ALL = "all"
CRITERIA = {  # what the numbers of CRFsuite's rules are in fastcrf
    "max_iterations": "CRF(max_iterations=...)",
    "period": "CRF(stopping=[RelativeDecrease(..., iterations=...)])",
    "delta": "CRF(stopping=[RelativeDecrease(...)])",
    "ratio": 'CRF(stopping=[GradientNorm(..., norm="l2")])',
    "mean_loss": "CRF(callbacks=[...])",
}
REMARKS = {
    "ratio": ", which does not divide by max(1, norm of the weights)",
    "mean_loss": ', a function that compares `row["training_loss"]`, the sum over the sequences',
}


def form(meaning: Meaning, algorithm: str) -> str:
    """How fastcrf says it."""
    if isinstance(meaning, Feature | Penalty):
        return f"`CRF({meaning.name}=...)`"
    if isinstance(meaning, Option):
        return f"`CRF({registry.solver_class(SOLVERS[algorithm]).__name__}({meaning.name}=...))`"
    if isinstance(meaning, Criterion):
        return f"`{CRITERIA[meaning.name]}`{REMARKS.get(meaning.name, '')}"
    assert isinstance(meaning, Ignored)
    return "nothing: each solver has the line search that suits it"


def shown(default: object) -> str:
    return "no limit" if default == NO_LIMIT else f"{default:g}" if isinstance(default, float) else str(default)


def parameters() -> Iterator[tuple[str, str, str, str]]:
    """(name, algorithm, default, form in fastcrf) of each parameter of each algorithm."""
    for name, parameter in FEATURES.items():
        yield name, ALL, shown(parameter.default), form(parameter.meaning, "")
    for algorithm, known in ALGORITHMS.items():
        for name, parameter in known.items():
            word = SHORT.get(algorithm, algorithm)
            yield name, word, shown(parameter.default), form(parameter.meaning, algorithm)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def from_crfsuite() -> str:
    """A row for each name and meaning; algorithms that share them share the row."""
    ours = {theirs: name for name, theirs in OF_THE_TRAINER.items()}
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, algorithm, default, fastcrf in parameters():
        rows.setdefault((name, fastcrf), []).append((algorithm, default))
    return table(
        ("python-crfsuite", "sklearn-crfsuite", "algorithm", "default", "fastcrf"),
        [
            (f"`{name}`", f"`{ours[name]}`", ", ".join(a for a, _ in of), defaults(of), fastcrf)
            for (name, fastcrf), of in rows.items()
        ],
    )


def defaults(of: list[tuple[str, str]]) -> str:
    """One value where all agree, else those of the algorithms in order."""
    values = [default for _, default in of]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def with_table(page: str) -> str:
    """Return the page with the table of today in the marked place."""
    page, n = REGION.subn(lambda found: found[1] + from_crfsuite() + found[2], page)
    if n != 1:
        raise ValueError(f"the page has {n} places for the table; mark 1")
    return page


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
