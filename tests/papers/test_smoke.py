"""Every item of every paper at toy size: run, listed, drawn, and not run again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fastcrf.papers import page, runs
from fastcrf.papers.catalog import ITEMS, PAPERS, find_items, studies_of
from fastcrf.papers.index import listed, write_pages
from fastcrf.papers.item import NOT_RUN
from fastcrf.papers.page import verdicts_of, view_of
from fastcrf.papers.records import Book
from fastcrf.papers.runs import Session

STUDIES = studies_of(list(ITEMS.values()))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    said = []
    session = Session(folder / "rows", folder / "checkpoints", toy=True, say=said.append)
    for study in STUDIES:
        session.run(study.toy())
    assert not [line for line in said if "failed" in line or "Skipped" in line]
    assert not list((folder / "checkpoints").iterdir())
    return folder / "rows"


@pytest.fixture(scope="module")
def pages(rows):
    write_pages(PAPERS, rows, rows.parent / "pages")
    return rows.parent / "pages"


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_has_rows_behind_its_verdicts(rows, name):
    item = ITEMS[name]
    view = view_of(item, rows)
    for study in item.studies:
        assert {record["set"] for record in Book(rows, study.name).records} == set(study.sets)
    verdicts = verdicts_of(item, view)
    assert verdicts
    assert [verdict for _, verdict in verdicts if verdict.word != NOT_RUN]


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.figure])
def test_a_figure_shows_every_curve_with_its_name(pages, name):
    item = ITEMS[name]
    svg = (pages / "figures" / f"{name.replace('/', '-')}.svg").read_text()
    curves = {curve.label for study in item.studies for panel in item.figure.panels
              for curve in study.on(panel.set) if panel.set in study.sets}  # fmt: skip
    for label in set(item.figure.curves) or curves:
        assert label in svg.replace("&#x27;", "'")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_page_has_all_items_and_links_to_what_exists(pages, paper):
    text = (pages / f"{paper.name}.md").read_text()
    for item in paper.items:
        assert f"## {item.title}" in text
        assert f"fastcrf papers run {item.name}`" in text
    for target in re.findall(r"\]\((figures/[^)]*)\)", text):
        assert (pages / target).is_file()
    assert paper.name in (pages / "index.md").read_text()


def test_what_is_on_disk_is_not_run_again(rows, monkeypatch):
    def refuse(*_):
        raise AssertionError("something was trained")

    monkeypatch.setattr(runs, "measure", refuse)
    session = Session(rows, rows.parent / "checkpoints", toy=True)
    for study in STUDIES:
        session.run(study.toy())
    assert session.done == 0


def test_pages_are_made_of_rows_alone_and_come_out_the_same(rows, pages, tmp_path, monkeypatch):
    monkeypatch.delenv("FASTCRF_DATA", raising=False)
    write_pages(PAPERS, rows, tmp_path)
    for path in sorted(pages.rglob("*.*")):
        assert (tmp_path / path.relative_to(pages)).read_bytes() == path.read_bytes(), path.name
    assert page.view_of(ITEMS["cao2015/table-2"], Path(tmp_path)).runs("conll2000-small", "SGD") == []


def test_items_are_found_by_name_paper_and_all():
    assert len(ITEMS) == 34
    assert [item.name for item in find_items(["cao2015/figure-3"])] == ["cao2015/figure-3"]
    assert len(find_items(["schmidt2015", "schmidt2015/figure-1"])) == 8
    assert len(find_items(["all"])) == 34
    with pytest.raises(ValueError, match="There is no item 'nothing'"):
        find_items(["nothing"])


def test_the_list_has_a_line_for_each_item(rows):
    lines = listed(ITEMS.values(), rows).splitlines()
    assert len(lines) == 1 + len(ITEMS)
