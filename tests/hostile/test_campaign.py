"""The campaign itself, in small: some inputs of every target, in this process, and a worker that is watched."""

from __future__ import annotations

import pytest

from fuzz.campaign import Tally, attack, take
from fuzz.targets import TARGETS, make_input
from fuzz.verdict import ACCEPTED, REFUSED, verdict

FEW = {"checkpoints": 30, "signed-checkpoints": 60, "streams": 20, "signed-streams": 60}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_every_input_is_accepted_or_raises_an_error(target, tmp_path):
    found = {number: verdict(make_input(target, 0, number, tmp_path)) for number in range(FEW.get(target, 150))}
    assert {number: each for number, each in found.items() if each not in (ACCEPTED, REFUSED)} == {}


def test_the_same_number_is_the_same_input(tmp_path):
    for _ in range(2):
        make_input("columns", 3, 14, tmp_path)
        content = (tmp_path / "columns").read_bytes()
        make_input("columns", 3, 15, tmp_path)
        assert (tmp_path / "columns").read_bytes() != content
        make_input("columns", 3, 14, tmp_path)
        assert (tmp_path / "columns").read_bytes() == content


def test_what_is_no_sentence_is_a_finding():
    def fail(error):
        raise error

    assert verdict(lambda: None) == ACCEPTED
    assert verdict(lambda: fail(ValueError("This is a sentence, with a remedy."))) == REFUSED
    assert verdict(lambda: fail(KeyError("weights"))) == "KeyError: 'weights'"
    assert verdict(lambda: fail(ValueError("bad"))).startswith("no sentence")
    assert verdict(lambda: fail(UnicodeDecodeError("utf-8", b"x", 0, 1, "no"))).startswith("UnicodeDecodeError")


def test_a_worker_counts_and_a_crash_is_reported_by_its_number(tmp_path):
    tally = attack("solver-options", 0, 0, 20, 60.0, bounds_checks=False)
    assert (tally.inputs, tally.accepted + tally.refused, tally.findings) == (20, 20, [])
    (tmp_path / "number").write_bytes((7).to_bytes(8, "little"))
    crashed = Tally("models")
    assert take((-11, "", "Segmentation fault"), crashed, 5, tmp_path / "number") == 8
    assert crashed.inputs == 3
    assert crashed.findings == ["models 7: the process ended with -11: Segmentation fault"]
