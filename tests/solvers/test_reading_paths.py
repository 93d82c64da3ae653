"""The method of a solver is found within four files, by following imports, and cites its paper at the line.

The paths are those of docs/develop/architecture.md.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

import fastcrf
from fastcrf.jit.source_closure import closure
from fastcrf.solvers import registry

PACKAGE = Path(fastcrf.__file__).parent
ARCHITECTURE = PACKAGE.parents[1] / "docs" / "develop/architecture.md"
LABEL = r"(eqs?\.|Eq\.|lines? \d|[Aa]lgorithms? \d|[Ss]ection \d|footnote \d|Figure \d)"
CITATION = re.compile(rf"\b{LABEL}|\(\d{{4}}\)|\(\d\.\d+\)")
WANTED = {"lbfgs", "owlqn", "sgd", "sgd-l1", "adagrad", "smd", "psa", "newton-cg", "oeg", "auto", "sag-nus-star"}
MOST_FILES = 4


def paths() -> dict[str, list[Path]]:
    rows = re.findall(r"^\| `([\w-]+)` \| ((?:`[\w/]+\.py`(?:, )?)+) \|$", ARCHITECTURE.read_text(), re.M)
    found = {}
    for name, files in rows:
        listed = re.findall(r"`([\w/]+\.py)`", files)
        found[name] = [PACKAGE / "solvers" / f if (PACKAGE / "solvers" / f).exists() else PACKAGE / f for f in listed]
    return found


PATHS = paths()


def texts_of(path: Path) -> list[str]:
    """Return the comments and docstrings, but for that of the module."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    texts = [token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING)]
    return texts[1:]


def test_the_paths_are_those_of_the_solvers_that_one_reads():
    assert set(PATHS) == WANTED


@pytest.mark.parametrize("name", PATHS)
def test_a_method_is_found_within_four_files(name):
    files = PATHS[name]
    assert len(files) <= MOST_FILES
    assert all(path.exists() for path in files)
    first = registry.REGISTRY[name].module.replace(".", "/").removeprefix("fastcrf/")
    assert files[0] == PACKAGE / f"{first}.py"
    known = closure(str(files[0])) | closure(str(PACKAGE / "objective" / "problem.py"))  # which solvers ask by protocol
    for path in files[1:]:
        assert str(path) in known, f"{files[0].name} does not lead to {path.name}"


@pytest.mark.parametrize("name", PATHS)
def test_the_paper_is_cited_at_the_line(name):
    cited = {path.name: len([1 for text in texts_of(path) if CITATION.search(text)]) for path in PATHS[name]}
    assert sum(cited.values()) >= 2, cited
    assert "(" in registry.describe(name)["paper"], "the citation of the module"
