"""The documentation cannot drift: its Python runs, its tables name every parameter, its links lead somewhere.

Blocks marked `python` are run; those marked `py` need data that are not there, and are only compiled.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fastcrf import CRF
from reference.cases import for_each
from reference.pages import PAGES, REPOSITORY, is_generated

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
WITH_PYTHON = [page for page in PAGES if BLOCK.search(page.read_text())]


def table_rows(page):
    """The first cell of each row of a page's tables, with the rest of the row."""
    rows = [line.split("|", 2)[1:] for line in (REPOSITORY / page).read_text().splitlines() if line.startswith("|")]
    return [(first.strip(), rest) for first, rest in rows]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, page.name, "exec", dont_inherit=True), namespace)


@for_each("page", PAGES)
def test_python_that_needs_data_is_well_formed(page):
    for block in NOT_RUN.findall(page.read_text()):
        compile(block, page.name, "exec", dont_inherit=True)


@for_each("page", PAGES)
def test_links_lead_to_files(page):
    for target in LINK.findall(page.read_text()):
        path = Path(os.path.normpath(page.parent / target))
        assert path.exists() or is_generated(path), f"{page.name} links to {target}"


def test_the_architecture_names_files_that_are_there():
    page, package = (REPOSITORY / "docs" / "develop/architecture.md").read_text(), REPOSITORY / "src" / "fastcrf"
    for name in re.findall(r"[a-z_0-9]+(?:/[a-z_0-9]+)*\.(?:py|md)", page):
        assert (REPOSITORY / name).exists() or (package / name).exists() or list(package.rglob(name)), name


def test_every_parameter_of_crf_has_a_row_in_the_tables():
    rows = table_rows("docs/reference/parameters.md")
    described = {name for first, _ in rows for name in re.findall(r"`(\w+)`", first)}
    assert set(CRF().get_params()) <= described


def test_every_fitted_attribute_has_a_row_in_the_tables():
    rows = table_rows("docs/reference/parameters.md")
    described = {name for first, _ in rows for name in re.findall(r"`(\w+_)`", first)}
    crf = CRF(n_jobs=1).fit([[["a"], ["b"]]], [["x", "y"]])
    fitted = {name for name in dir(crf) if name.endswith("_") and not name.startswith("_")}
    assert fitted == described


def test_the_documentation_speaks_of_the_project_alone():
    for page in PAGES:
        assert not re.search(r"/(work|tmp|root|home)\b", page.read_text()), page.name
