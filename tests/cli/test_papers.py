"""`fastcrf papers` from the command line: run a toy, list it, draw it; what is wrong is said before anything runs."""

from __future__ import annotations

import pytest


@pytest.fixture
def papers(run, tmp_path):
    """Run a subcommand with rows of its own."""

    def invoke(command, *arguments):
        return run("papers", command, *arguments, "--rows", tmp_path / "rows", "--toy")

    return invoke


def test_a_toy_runs_is_listed_and_drawn(papers, tmp_path):
    first = papers("run", "tsuruoka2009/figure-3", "--seeds", 1)
    assert first.exit_code == 0, first.stderr
    assert "Cumulative" in first.stderr
    again = papers("run", "tsuruoka2009/figure-3")
    assert (again.exit_code, again.stderr) == (0, "")
    listed = papers("list").stdout
    (line,) = [line for line in listed.splitlines() if "tsuruoka2009/figure-3" in line]
    assert "confirmed" in line or "refuted" in line or "undecided" in line
    drawn = papers("redraw", "--pages", tmp_path / "pages")
    assert drawn.exit_code == 0, drawn.stderr
    assert (tmp_path / "pages" / "figures" / "tsuruoka2009-figure-3.svg").is_file()
    assert "not run" in (tmp_path / "pages" / "cao2015.md").read_text()


def test_only_the_sets_that_are_asked_for_run(papers, tmp_path):
    assert papers("run", "schmidt2015/memory", "--sets", "ocr,dutch").exit_code == 0
    from fastcrf.papers.records import Book

    assert [record["set"] for record in Book(tmp_path / "rows", "schmidt2015-memory").records] == ["ocr", "dutch"]


def test_an_unknown_item_is_an_error_and_runs_nothing(papers, tmp_path):
    result = papers("run", "nothing")
    assert result.exit_code != 0
    assert "There is no item 'nothing'" in result.stderr
    assert not (tmp_path / "rows").exists()
