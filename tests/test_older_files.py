"""Files that development versions before 0.1.0 wrote: they load, or one error says what to do.

`fixtures/before_0.1.0` was made by commit ef16235: models of CRF and of the command line, checkpoints after three
iterations with what six reach, a stream after half of the sequences, and pickles.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import joblib
import pytest
from typer.testing import CliRunner

import fastcrf
from fastcrf import CRF
from fastcrf.cli.main import app

FILES = Path(__file__).parent / "fixtures" / "before_0.1.0"
DATA = json.loads((FILES / "sequences.json").read_text())
EXPECTED = json.loads((FILES / "expected.json").read_text())
CHECKPOINTS = {
    "lbfgs": ["-a", "lbfgs"],
    "lbfgsc101": ["-a", "lbfgs", "--c1", "0.1"],
    "sag": ["-a", "sag"],
    "sagnusstar": ["-a", "sag-nus-star"],
    "svrg": ["-a", "svrg"],
    "psa": ["-a", "psa"],
    "auto": ["-a", "auto"],
    "ap": ["-a", "ap", "--c2", "0"],
}


def test_a_model_of_the_estimator_predicts_as_before():
    crf = CRF.load(FILES / "estimator.crf")
    assert crf.c2 == 0.1
    assert crf.predict(DATA["X"]) == EXPECTED["estimator.crf"]
    for ours, before in zip(crf.predict_marginals(DATA["X"][:2]), EXPECTED["proba"], strict=True):
        assert ours == [pytest.approx(each) for each in before]


def test_models_of_higher_order_templates_and_the_command_line_load():
    assert CRF.load(FILES / "order2.crf").predict(DATA["X"]) == DATA["y"]
    rows = [[[item["word"], "D" if item["digit"] else "A"] for item in sequence] for sequence in DATA["X"]]
    assert CRF.load(FILES / "template.crf").predict(rows) == DATA["y"]
    assert fastcrf.load(FILES / "cli.crf").labels == ["Number", "Street", "City"]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_resumes_and_ends_where_an_unbroken_run_ended(name, tmp_path):
    expected = json.loads((FILES / f"{name}.json").read_text())
    checkpoint = tmp_path / "run.state"
    checkpoint.write_bytes((FILES / f"{name}.state").read_bytes())
    goal = [] if name == "ap" else ["--tol", "1e-12"]
    words = ["train", FILES / "columns.txt", "-m", tmp_path / "new.crf", "-q", "--json", "--n-jobs", "1", *goal]
    words += ["--max-iterations", "6", "--checkpoint", checkpoint, "--resume", *CHECKPOINTS[name]]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert (outcome["algorithm"], outcome["steps"]) == (expected["algorithm"], 6)
    assert outcome["passes"] == pytest.approx(expected["passes"])
    if name != "ap":
        assert outcome["objective"] == pytest.approx(expected["objective"], rel=1e-9)


def test_a_stream_goes_on():
    crf = CRF.load_stream(FILES / "psa.stream")
    crf.partial_fit(DATA["X"][6:], DATA["y"][6:])
    for ours, before in zip(crf.predict_marginals(DATA["X"][:2]), EXPECTED["stream"], strict=True):
        assert ours == [pytest.approx(each) for each in before]


@pytest.mark.parametrize("name", ["estimator.pickle", "crfcv.pickle", "solver.pickle", "model.pickle"])
def test_a_pickle_says_what_to_do(name):
    with pytest.raises(ImportError, match=r"has moved.*save the model by CRF\.save"):
        pickle.loads((FILES / name).read_bytes())


def test_a_joblib_dump_says_what_to_do():
    with pytest.raises(ImportError, match=r"has moved.*save the model by CRF\.save"):
        joblib.load(FILES / "estimator.joblib")


def test_a_module_that_was_never_there_is_an_ordinary_error():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'fastcrf\.nothing'"):
        __import__("fastcrf.nothing")
