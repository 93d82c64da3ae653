"""Figures from rows alone: images by matplotlib, and a page that needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from fastcrf.lab.drawing.figures import check_figure, save_figure
from fastcrf.lab.drawing.page import page
from reference.lab_rows import lab_rows

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
    document.body.dataset.tip = document.querySelector(".tip").textContent;
    document.body.dataset.curves = document.querySelectorAll("polyline").length;
    document.body.dataset.panels = document.querySelectorAll(".panel:not([hidden]) svg").length;
    </script></body>"""
    path = tmp_path / "page.html"
    path.write_text(page(lab_rows()).replace("</body>", act), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([*command, "--dump-dom", path.as_uri()], capture_output=True, text=True)
    body = re.search(r"<body([^>]*)>", done.stdout)[1]
    assert 'data-panels="8"' in body  # two problems, gap and error, against passes and seconds
    assert 'data-curves="8"' in body  # quick is hidden, steady is on every panel
    assert "steady" in body
    assert "quick" not in body
