"""`benchmarks/peers`: one judge for the models of all libraries, and logs of programs as curves."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from fastcrf import CRF
from fastcrf.data.datasets.addresses import make_addresses

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))


@pytest.fixture
def data():
    from benchmark_utils.tables import with_neighbors

    sentences, labels = make_addresses(30, random_state=0)
    return with_neighbors(sentences, lambda word: [word.lower(), word[-2:]]), [list(map(str, own)) for own in labels]


def test_the_judge_finds_the_objective_of_a_model_and_the_certified_optimum(data):
    from benchmark_utils.judge import Judge
    from benchmark_utils.tables import as_items

    rows, labels = data
    judge = Judge(rows, labels, c2=0.5)
    optimum, accuracy = judge.optimum()
    crf = CRF(c2=0.5, all_possible_states=True, all_possible_transitions=True, tol=1e-6).fit(as_items(rows), labels)
    assert accuracy <= 1e-8
    assert judge.objective(crf.model_) == pytest.approx(crf.history_[-1]["objective"], rel=1e-9)
    assert 0.0 <= judge.objective(crf.model_) / optimum - 1.0 <= 1e-6


def test_crfsuite_minimizes_the_same_objective(data, tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    from benchmark_utils.judge import Judge
    from benchmark_utils.tables import as_items

    rows, labels = data
    options = {"c2": 0.5, "feature.possible_states": True, "feature.possible_transitions": True, "delta": 1e-12}
    trainer = pycrfsuite.Trainer("lbfgs", options, verbose=False)
    for items, own in zip(as_items(rows), labels, strict=True):
        trainer.append(items, own)
    trainer.train(str(tmp_path / "model.crfsuite"))
    judge = Judge(rows, labels, c2=0.5)
    found = judge.objective(CRF.load(tmp_path / "model.crfsuite").model_)
    assert found == pytest.approx(judge.optimum()[0], rel=1e-6)


def test_the_log_of_a_program_is_a_curve(data, tmp_path, monkeypatch):
    from benchmark_utils.programs import CRFPP, WAPITI
    from benchmark_utils.tables import write_files

    write_files(*data, tmp_path)
    assert (tmp_path / "template").read_text().splitlines()[-1] == "B"
    assert len((tmp_path / "train.txt").read_text().split("\n\n")) == 31  # 30 addresses, and the end
    lines = {
        CRFPP: ["shrinking size: 20", "iter=0 terr=0.9 serr=1.0 act=10 obj=12.50000 diff=1.0"],
        WAPITI: ["* Train the model with l-bfgs", "  [   1] obj=12.50      act=10 err= 1.00% time=0.1s/0.1s"],
    }
    for program, log in lines.items():
        fake = tmp_path / program.binary
        fake.write_text(f"#!{sys.executable}\nprint({chr(10).join(log)!r})\n")
        fake.chmod(fake.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv(program.variable, str(fake))
        ((_, objective, seconds),) = program.train(tmp_path, c2=0.5)
        assert objective == 12.5
        assert 0.0 <= seconds < 60.0
        monkeypatch.setenv(program.variable, str(tmp_path / "nowhere"))
        assert program.path() is None
