"""The page for those who come from CRFsuite tells every parameter as the table in the code has it."""

from __future__ import annotations

from compat.switching_table import PAGE, parameters, with_table
from fastcrf.compat.sklearn_crfsuite.estimator import OF_THE_TRAINER


def test_the_table_of_the_page_is_that_of_the_code():
    page = PAGE.read_text()
    assert page == with_table(page), "run python tests/compat/switching_table.py"


def test_every_parameter_is_in_the_table():
    page = PAGE.read_text()
    for name, _, _, ours in parameters():
        assert f"| `{name}` |" in page
        assert ours in page
    for name in OF_THE_TRAINER:
        assert f"| `{name}` |" in page
