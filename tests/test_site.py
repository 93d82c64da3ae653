"""What the site generates from the code: a card per solver, a page per command; and the check of a built site."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from _generate import check_site, cli_pages, repository_files, solver_cards

from fastcrf.solvers import registry
from reference.cases import for_each
from reference.pages import DOCS, REPOSITORY


@for_each("name", registry.names())
def test_a_card_shows_paper_options_and_source(name):
    card = solver_cards.card(name)
    assert re.search(r"\(\d{4}\)", card), "a year"
    assert all(f"`{option}` :" in card for option in registry.options_of(name))
    assert "See the source." not in card, "an option without a description"
    (source,) = re.findall(r"/blob/main/(\S+\.py)\)", card)
    assert (REPOSITORY / source).exists()


def test_a_card_shows_the_pseudo_code_of_its_file():
    card = solver_cards.card("sag-nus-star")
    assert "with probability 1/2 uniformly" in card
    assert "## Differs from the paper" in card


def test_the_table_of_solvers_lists_every_name():
    table = solver_cards.index()
    assert all(f"| [{name}]({name}.md) |" in table for name in registry.names())


@for_each("name", registry.names())
def test_the_family_of_a_solver_has_a_page(name):
    _, page = solver_cards.family_of(registry.REGISTRY[name].module)
    assert (DOCS / f"{page}.md").exists()


@for_each("name", list(cli_pages.read_commands()))
def test_every_option_of_a_command_is_on_its_page(name):
    command = cli_pages.read_commands()[name]
    page = cli_pages.page_of(name, command)
    for parameter in command.params:
        option = parameter.opts[-1]
        shown = option if option.startswith("-") else parameter.metavar or parameter.name.upper()
        assert re.search(rf"^````\{{option\}} .*{re.escape(shown)}(?!\w)", page, re.MULTILINE), shown


def test_every_command_has_a_page_with_its_summary(tmp_path):
    cli_pages.write_pages(tmp_path)
    for name, command in cli_pages.read_commands().items():
        assert cli_pages.summary(command).split()[0] in (tmp_path / cli_pages.file_of(name)).read_text()


def test_links_of_the_repository_lead_to_pages_or_to_the_repository():
    text = "[a](docs/develop/kernels.md) [b](SECURITY.md) [c](src/fastcrf) [d](https://x.org) [e](examples/penalty.py)"
    moved = repository_files.with_links(text, REPOSITORY, DOCS / "develop")
    assert moved == (
        "[a](kernels.md) [b](security.md) [c](https://github.com/fastcrf/fastcrf/tree/main/src/fastcrf) "
        "[d](https://x.org) [e](../tutorials/penalty.rst)"
    )


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<script src="https://cdn.org/x.js"></script>', "a.html loads https://cdn.org/x.js"),
        ('<img src="//cdn.org/x.png">', "a.html loads //cdn.org/x.png"),
        ("<style>@import url(https://fonts.org/x.css)</style>", "a.html loads https://fonts.org/x.css"),
        ('<a href="b.html">', "a.html links to b.html"),
        ('<a href="#missing">', "a.html links to #missing"),
        ('<a href="https://example.org"><a href="#here" id="here"><script src="x.js"></script>', None),
    ],
)
def test_a_remote_file_or_a_broken_link_is_a_fault(page, fault, tmp_path):
    (tmp_path / "a.html").write_text(page)
    assert list(check_site.faults(tmp_path)) == ([fault] if fault else [])


@for_each(
    "module",
    [
        "fastcrf",
        "fastcrf.features",
        "fastcrf.readers",
        "fastcrf.stopping",
        "fastcrf.metrics",
        "fastcrf.scorers",
        "fastcrf.exceptions",
    ],
)
def test_every_public_name_is_on_the_page_of_the_api(module):
    page = (DOCS / "reference" / "api.md").read_text()
    for name in import_module(module).__all__:
        assert re.search(
            rf"^(   |\.\. py:data:: |\.\. (py:|current)module:: fastcrf\.){name}$", page, re.MULTILINE
        ) or (name == "__version__"), name
