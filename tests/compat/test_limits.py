"""Limits on repeated labels: usaddress raises no RepeatedLabelError for the addresses of its issues."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import usaddress
for line in sys.stdin.read().splitlines():
    try:
        print(usaddress.tag(line)[1])
    except usaddress.RepeatedLabelError as error:
        print("repeated")
"""
ADDRESSES = {  # by number of the issue of datamade/usaddress
    "137": "981 SAINT ALBANS ST. N. #303",
    "199": "300 SE 1ST AVENUE 106",
    "224": "10600 FOLSOM BLVD RANCHO CORDOVA 95670 CA",
    "289": "CHECK S ST LOUIS ST  LOT 34 ELWOOD, IL 60421",
    "294": "1234 Harmony Place La Crescenta CA 91214",
    "303": "2501 S W S YOUNG DR KILLEEN  TX  76542",
    "305": "The Boulder Apartments, 210 Simpson Parkway #R-100, 210 Simpson-Parkway, Cheney, WA 99004, USA",
    "311": "Bradenton-75th West, 4312 75th St. West, Bradenton, FL 34209",
    "319": "1750 SW West Point Ct, Portland, OR, 97201",
    "341": "2105 New Jersey Highway 35, Middletown, New Jersey 07748, USA",
    "359": "38350 40TH ST EAST 100 PALMDALE CA 93552",
    "362": "1016 H Street, Modesto, CA  95354, Modesto, CA 95354",
    "369": "1449 Engineering Research Ct B100 East Lansing MI 48824-1226",
    "373": "59 ST JAMES PLACE NEW YORK NY 10038",
}
OTHERS = ["Main St & Oak St", "123 Main St Chicago IL 60601"]


def types_of(program, *options):
    command = [sys.executable, "-m", "fastcrf.compat", *options, str(program)]
    lines = "\n".join([*ADDRESSES.values(), *OTHERS])
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    return done.stdout.splitlines(), done


@pytest.fixture
def program(tmp_path):
    pytest.importorskip("usaddress")
    (tmp_path / "addresses.py").write_text(PROGRAM)
    return tmp_path / "addresses.py"


def test_the_addresses_of_usaddress_issues_are_tagged(program):
    before = types_of(program)[0]
    assert before.count("repeated") > 5, "otherwise the option has nothing to do"
    after, _ = types_of(program, "--max-segments", "1", "--unless", "IntersectionSeparator")
    assert "repeated" not in after
    assert after[-2:] == before[-2:] == ["Intersection", "Street Address"]
    assert [a for a, b in zip(after, before, strict=True) if b != "repeated"] == [b for b in before if b != "repeated"]


def test_a_wrong_number_is_an_error(program):
    assert "--max-segments must be a whole number; got 'one'" in types_of(program, "--max-segments", "one")[1].stderr
