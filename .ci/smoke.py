"""Use an installed fastcrf as a new user does: train, certify, save, load, and the same from the command line."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import fastcrf

HERE = Path.cwd()
assert HERE not in Path(fastcrf.__file__).parents, "this must run away from the sources"
assert fastcrf.__version__ == version("fastcrf")

X = [[{"word": "31", "digit": True}, {"word": "Elm"}, {"word": "St"}], [{"word": "Paris"}]] * 10
y = [["Number", "Street", "Type"], ["City"]] * 10
crf = fastcrf.CRF(tol=1e-4).fit(X, y)
assert crf.certificate_.relative_gap <= 1e-4
assert crf.predict(X) == y
crf.save("model.crf")
assert fastcrf.load("model.crf").predict(X) == y


def command(*arguments: str) -> str:
    done = subprocess.run([str(Path(sys.executable).with_name("fastcrf")), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


Path("train.txt").write_text("31\tNumber\nElm\tStreet\nSt\tType\n\nParis\tCity\n\n" * 10)
Path("new.txt").write_text("7\nElm\nSt\n\nParis\n")
assert fastcrf.__version__ in command("--version")
assert "Usage" in command("--help")
command("train", "train.txt", "-m", "columns.crf")
assert command("tag", "new.txt", "-m", "columns.crf").startswith("7\tNumber\nElm\tStreet\n")
assert "accuracy" in command("evaluate", "train.txt", "-m", "columns.crf")
assert Path("train.txt").exists()
command("report", "columns.crf", "train.txt", "-o", "report.html")
assert "<svg" in Path("report.html").read_text()
