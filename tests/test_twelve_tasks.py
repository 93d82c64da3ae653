"""The twelve tasks of docs/how-to/twelve-tasks.md run as they stand there, each in at most five lines."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to/twelve-tasks.md"
BEFORE, *SECTIONS = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_of(section):
    (code,) = BLOCK.findall(section)
    return code


TASKS = [(section.splitlines()[0], code_of(section)) for section in SECTIONS]
LABELS = [["Number", "Street"], ["City"]]
OUTCOMES = [  # whether a task did what it promises, by what it left behind
    lambda it: it["labels"] == LABELS,
    lambda it: it["labels"] == LABELS[0],
    lambda it: it["likeliest"].tolist() == [*LABELS[0], *LABELS[1]] and it["probabilities"].shape == (3, 3),
    lambda it: 0 < it["n_weights"] < len(it["crf"].state_features_),
    lambda it: it["search"].best_estimator_.algorithm.pairs in (6, 20) and it["crf"].algorithm.pairs == 20,
    lambda it: it["accuracy"] == 1.0 and it["crf"].certificate_.gap >= 0.0,
    lambda it: it["updated"].history_[0]["objective"] != pytest.approx(np.log(3) * sum(map(len, it["X_more"]))),
    lambda it: it["adapted"].state_features_ == pytest.approx(it["crf"].state_features_, abs=0.1),
    lambda it: it["path"].c2.tolist() == [10, 1, 0.1] and it["labels"] == LABELS and it["c2"] <= 10.0,
    lambda it: it["crf"].n_iter_ == 3 and it["crf"].predict(it["X_new"]) == LABELS,
    lambda it: it["crf"].predict(it["X_new"]) == LABELS and it["crf"].converged_,
    lambda it: it["labels"] == LABELS and Path("template.txt").exists(),
]  # fmt: skip


def test_there_are_twelve_of_at_most_five_lines():
    assert [int(title.split(".")[0]) for title, _ in TASKS] == list(range(1, 13))
    assert max(len(code.splitlines()) for _, code in TASKS) <= 5


CASES = [
    pytest.param(number, id=title, marks=pytest.mark.filterwarnings("ignore") if "engine=" in code else ())  # of Dask
    for number, (title, code) in enumerate(TASKS, 1)
]


@pytest.mark.parametrize("number", CASES)
def test_a_task_runs_and_does_what_it_promises(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = TASKS[number - 1][1]
    if "engine=" in code and importlib.util.find_spec("distributed") is None:
        pytest.skip("dask.distributed is not installed: pip install 'fastcrf[dask]'")
    namespace: dict = {}
    for block in [code_of(BEFORE), *(code for _, code in TASKS[: min(number, 2)])]:  # tasks use the model of 1 and 2
        exec(block, namespace)
    if number > 2:
        namespace.pop("labels")
        exec(code, namespace)
    assert OUTCOMES[number - 1](namespace)
