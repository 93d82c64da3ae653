"""Real programs that were written for CRFsuite give the same answers on fastcrf."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("clients.py")
NAMES = ["usaddress", "probablepeople", "parserator", "nltk", "pyvi", "eli5", "tutorial"]
ABSENT = "{} is not installed; pip install 'fastcrf[clients]' brings what this test needs"


@pytest.fixture(scope="module")
def answers():
    """What the clients say with CRFsuite, and with fastcrf: both at once, all clients in one process each."""
    commands = ([sys.executable, PROGRAM], [sys.executable, "-m", "fastcrf.compat", PROGRAM])
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for command in commands]
    outputs = [process.communicate() for process in running]
    for process, (_, errors) in zip(running, outputs, strict=True):
        assert process.returncode == 0, errors.decode()
    return [json.loads(told) for told, _ in outputs]


@pytest.mark.parametrize("client", NAMES)
def test_a_client_gives_the_same_answers(answers, client):
    theirs, ours = (each[client] for each in answers)
    if theirs is None:
        pytest.skip(ABSENT.format(client))
    assert rounded(ours) == rounded(theirs)
    assert len(json.dumps(ours)) > 300  # there is something to compare


def rounded(answer):
    """Weights agree to some digits, because both stop near the optimum and CRFsuite rounds what it tells."""
    if isinstance(answer, float):
        return pytest.approx(answer, abs=1e-4)
    if isinstance(answer, list):
        return [rounded(each) for each in answer]
    return {name: rounded(each) for name, each in answer.items()} if isinstance(answer, dict) else answer
