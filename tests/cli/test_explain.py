from __future__ import annotations

import pytest

from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.model.model import Model

ROWS = [["the", "D"], ["dog", "N"], ["sees", "V"]]


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("a D\n\n" + "".join(" ".join(row) + "\n" for row in ROWS))
    return path


def test_explain_prints_the_table_of_a_token_and_writes_its_page(run, new, model, tmp_path):
    found = Model.load(model).explain(column_items(ROWS), 1)
    result = run("explain", new, "-m", model, "--line", 4, "--html", tmp_path / "why.html")
    head, *rows = str(found).splitlines()
    shown_head, *shown = result.stdout.splitlines()
    assert shown_head == head
    assert [row.split()[0] for row in shown] == [row.split()[0] for row in rows]
    assert '<p class="explained">' in (tmp_path / "why.html").read_text()
    span = run("explain", new, "-m", model, "--line", 4, "--to", 5, "--against", "O")
    assert span.stdout.splitlines()[0].endswith("against O O")


@pytest.mark.parametrize(
    ("options", "code", "fault"),
    [
        (["--line", "2"], 1, "has no tokens at line 2"),
        (["--line", "1", "--to", "3"], 1, "has no tokens at lines 1 to 3 in one sequence"),
        (["--line", "3", "--to", "1"], 2, "--to must not be before --line 3; got 1"),
        (["--line", "3", "--against", "X"], 1, "the model has no label 'X'"),
    ],
)
def test_wrong_places_and_labels_are_reported(run, new, model, options, code, fault):
    result = run("explain", new, "-m", model, *options)
    assert result.exit_code == code
    assert fault in result.output + str(result.exception or "")
