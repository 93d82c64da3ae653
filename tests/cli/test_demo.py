from __future__ import annotations

import io
import re
import subprocess
import sys

import pytest
from rich.console import Console

from fastcrf.cli.demo_tasks import addresses, digits
from fastcrf.model.model import Model


def share(text: str, name: str) -> float:
    match = re.search(rf"{name} +([\d.]+)%", text)
    assert match
    return float(match[1])


def test_the_demo_trains_scores_shows_and_says_how_to_go_on(tmp_path):
    result = subprocess.run([sys.executable, "-m", "fastcrf", "demo"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for word in ("objective", "certificate", "status       converged", "passes over the data", "saved in"):
        assert word in result.stdout
    assert 96.5 < share(result.stdout, "token accuracy") < 99.5
    assert 94.5 < share(result.stdout, "segment F1") < 99.0
    assert result.stdout.count("AddressNumber") + result.stdout.count("POBox") >= 3
    assert [path.name for path in tmp_path.iterdir()] == ["fastcrf-addresses.crf"]
    command = result.stdout.strip().splitlines()[-1]
    tagged = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        capture_output=True,
    )
    assert tagged.returncode == 0
    lines = [line.split("\t") for line in tagged.stdout.decode().splitlines()]
    assert lines[0] == ["12", "AddressNumber"]
    assert lines[-1] == ["62704", "ZipCode"]


def test_the_digits_demo_saves_a_model_for_python(run, tmp_path):
    result = run("demo", "--task", "digits", "--output", tmp_path / "d.crf", "--random-state", 1)
    assert result.exit_code == 0
    assert 97.0 < share(result.stdout, "token accuracy") < 100.0
    assert Model.load(tmp_path / "d.crf").input == {"kind": "items"}
    assert f"fastcrf.load('{tmp_path / 'd.crf'}')" in result.stdout.replace("\n", "")


def test_the_demo_rejects_a_folder_that_is_not_there_before_it_trains(run, tmp_path):
    result = run("demo", "--output", tmp_path / "no" / "d.crf")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No such folder" in result.stderr


@pytest.mark.parametrize("chosen", [addresses(seed=3, n=40), digits(seed=3)], ids=["addresses", "digits"])
def test_wrong_labels_are_shown_with_the_right_ones(chosen):
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system="standard")
    chosen.show(console, chosen.y_test)
    assert "\x1b[31m" not in console.file.getvalue()
    wrong = [["7" if labels[0] in "01234569" else labels[1], *labels[1:]] for labels in chosen.y_test]
    chosen.show(console, wrong)
    assert f"({chosen.y_test[0][0]})" in console.file.getvalue()
    assert "\x1b[31m" in console.file.getvalue()
