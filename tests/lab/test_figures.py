"""Figures from rows alone: images by matplotlib, and a page that needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from fastcrf.fitting.solver_choice import USUAL, USUAL_SPARSE
from fastcrf.lab.drawing.figures import check_figure, save_figure
from fastcrf.lab.drawing.page import page
from fastcrf.solvers.colors import color_of
from reference.lab_rows import lab_rows, run

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.mark.parametrize(("kind", "beginning"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_images_are_of_the_kind_that_their_name_says(tmp_path, kind, beginning):
    pytest.importorskip("matplotlib")
    save_figure(lab_rows(), tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").read_bytes().startswith(beginning)


def test_the_page_loads_nothing():
    text = page(lab_rows())
    assert not re.search(r"(src|href)\s*=|@import|url\((?!#)|fetch\(|XMLHttpRequest|import\s*\(", text)
    addresses = set(re.findall(r"https?://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, not an address that is asked


def test_text_of_the_rows_cannot_become_markup():
    text = page([row | {"solver": "<b>bold</b>", "reason": "</script><i>"} for row in lab_rows()])
    assert "<b>bold" not in text
    assert "<i>" not in text
    assert data_of(text)[0]["runs"][0]["solver"] == "<b>bold</b>"


def test_the_page_holds_the_curves_of_every_run_that_ran():
    one, two = data_of(page(lab_rows()))
    assert [(run["solver"], run["seed"]) for run in one["runs"]] == [("quick", 0), ("quick", 1), ("steady", None)]
    assert one["runs"][2]["suboptimality"] == [1.0, 0.5, 0.09, 0.009, 9e-4, 0.0]
    assert (one["floor"], two["floor"]) == (1e-7, 0.01)


def test_the_verdict_and_the_machine_are_above_the_curves():
    machine = {"processor": "A processor", "cores": 2, "system": "Linux", "python": "3.11.7", "numpy": "2.4.6",
               "numba": "0.68.1", "date": "2026-11-20"}  # fmt: skip
    text = page([row | {"machine": machine, "version": "1.2.3+abc"} for row in lab_rows()])
    top = text[: text.index('id="controls"')]
    assert "one: steady reaches a relative gap of 1e-3 in 0.04 s" in top
    assert "fastcrf 1.2.3; 2026-11-20; A processor, 2 cores; Linux; Python 3.11.7, NumPy 2.4.6, Numba 0.68.1" in top


def test_a_solver_has_one_color_everywhere_and_its_variants_have_dashes():
    rows = [*run("one", "sgd", 0, [1.0, 0.5]), *run("one", "sgd:batch_size=10", 0, [1.0, 0.6])]
    alone, both = data_of(page(rows[:2]))[0]["runs"], data_of(page(rows))[0]["runs"]
    assert {run["color"] for run in alone + both} == {color_of("sgd")}
    assert [run["dashes"] for run in both] == [0, 1]


def test_no_two_usual_solvers_share_a_color():
    for usual in (USUAL, USUAL_SPARSE):
        assert len({color_of(name) for name in (*usual, "crfsuite")}) == len(usual) + 1


def test_every_cell_of_a_table_has_the_title_of_its_column_for_phones():
    text = page(lab_rows())
    cells = re.findall(r"<td[^>]*>", text)
    assert cells
    assert all("data-title=" in cell for cell in cells)


def test_columns_without_any_value_are_left_out():
    with_error, without = page(lab_rows()), page([row | {"error": None} for row in lab_rows()])
    assert 'data-title="error"' in with_error
    assert 'data-title="error"' not in without
    assert 'data-title="gap"' in without


def test_a_figure_of_another_kind_raises_an_error_before_the_work():
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg, \.pdf, \.html; got 'figure\.doc'"):
        check_figure("figure.doc")


@pytest.mark.skipif(BROWSER is None, reason="no browser here")
def test_a_browser_draws_every_panel_and_reacts(tmp_path):
    act = """<script>
    const errors = []; addEventListener("error", event => errors.push(event.message));
    document.querySelector("#legend button").click();
    const svg = document.querySelector(".panels svg"), box = svg.getBoundingClientRect();
    const at = share => ({clientX: box.left + share * box.width, clientY: box.top + 50, bubbles: true});
    svg.dispatchEvent(new PointerEvent("pointermove", at(0.9)));
    document.body.dataset.bands = document.querySelectorAll("polygon").length;
    const press = key => svg.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    press("End");
    document.body.dataset.tip = document.querySelector(".tip").textContent;
    document.body.dataset.curves = document.querySelectorAll("polyline").length;
    document.body.dataset.panels = document.querySelectorAll(".panel:not([hidden]) svg").length;
    </script></body>"""
    body = body_after(act, tmp_path)
    assert 'data-panels="8"' in body  # two problems, gap and error, against passes and seconds
    assert 'data-curves="8"' in body  # quick is hidden, steady is on every panel
    assert "steady" in body
    assert "quick" not in body
    assert 'data-bands="0"' in body  # only quick has two seeds


@pytest.mark.skipif(BROWSER is None, reason="no browser here")
def test_several_seeds_are_a_line_with_a_band_from_the_best_to_the_worst(tmp_path):
    act = """<script>
    const panel = panels[0], [quick] = panel.curves();
    document.body.dataset.last = JSON.stringify(quick.points.at(-1));
    document.body.dataset.bands = document.querySelectorAll("polygon").length;
    panel.svg.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}));
    panel.svg.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
    document.body.dataset.zoomed = panel.zoom !== null;
    panel.svg.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
    document.body.dataset.whole = panel.zoom === null;
    </script></body>"""
    body = body_after(act, tmp_path)
    assert 'data-last="[3,0.000275,0.00005,0.0005]"' in body  # of the gaps 5e-5 and 5e-4
    assert 'data-bands="4"' in body  # quick ran on one of the problems: gap and error, against passes and seconds
    assert 'data-zoomed="true"' in body
    assert 'data-whole="true"' in body


def body_after(act, folder):
    """The attributes of the page's body after a script has acted on it."""
    path = folder / "page.html"
    path.write_text(page(lab_rows()).replace("</body>", act), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run([*command, "--dump-dom", path.as_uri()], capture_output=True, text=True)
    return re.search(r"<body([^>]*)>", done.stdout)[1].replace("&quot;", '"')
