"""The test suites of python-crfsuite and sklearn-crfsuite, run on fastcrf.

They come from the source distributions in the folder that the environment variable FASTCRF_SDISTS names:

    pip download --no-deps --no-binary python-crfsuite,sklearn-crfsuite --dest FOLDER python-crfsuite sklearn-crfsuite
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

NOT_HERE = "the source distribution of {} is not there; FASTCRF_SDISTS must name a folder that holds it"


def their_tests(project, folder):
    """The tests of a source distribution, and nothing else of it."""
    found = sorted(Path(os.environ.get("FASTCRF_SDISTS", "nowhere")).glob(f"{project}-*.tar.gz"))
    if not found:
        pytest.skip(NOT_HERE.format(project))
    with tarfile.open(found[-1]) as archive:
        members = [member for member in archive.getmembers() if "/tests/" in member.name]
        archive.extractall(folder, members, filter="data")
    return next(folder.glob("*/tests"))


def outcomes(tests, folder):
    """{test: whether it did not fail}."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "fastcrf.compat", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*command, f"--junitxml={report}", tests], cwd=folder, capture_output=True)
    cases = ElementTree.parse(report).iter("testcase")
    return {case.get("name"): not (case.findall("failure") or case.findall("error")) for case in cases}


@pytest.mark.parametrize(("project", "least"), [("python_crfsuite", 50), ("sklearn_crfsuite", 45)])
def test_their_tests_pass(project, least, tmp_path):
    passed = outcomes(their_tests(project, tmp_path), tmp_path)
    assert len(passed) >= least
    assert [name for name, fine in passed.items() if not fine] == []
