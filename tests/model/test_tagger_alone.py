"""The tagger alone: with NumPy and safetensors installed and nothing else, models of every format tag."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fastcrf

REPOSITORY = Path(__file__).parents[2]
OLDER = REPOSITORY / "tests" / "fixtures" / "before_0.1.0"
OTHERS = REPOSITORY / "tests" / "interchange" / "fixtures"
TRAINING = ["numba", "llvmlite", "scipy", "sklearn", "joblib", "rich", "typer", "click"]

WITHOUT = f"""
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {TRAINING}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
"""


def without(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a program in a process in which the packages of training cannot be imported."""
    command = [sys.executable, "-c", WITHOUT + code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


TAG = """
import json
import fastcrf
model, X = fastcrf.load(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps([model.predict(X), model.predict_marginals(X), model.predict_spans(X)]))
"""


@pytest.mark.parametrize("name", ["estimator.crf", "order2.crf"])
def test_models_tag_as_they_do_with_everything_installed(name):
    X = json.loads((OLDER / "sequences.json").read_text())["X"]
    model = fastcrf.load(OLDER / name)
    result = without(TAG, OLDER / name, json.dumps(X))
    assert result.returncode == 0, result.stderr
    labels, marginals, spans = json.loads(result.stdout)
    assert labels == model.predict(X)
    assert [dict(row) for rows in marginals for row in rows] == [
        pytest.approx(row) for rows in model.predict_marginals(X) for row in rows
    ]
    assert len(spans) == len(X)


def test_more_than_a_few_sentences_are_tagged_without_the_compiler():
    code = """
import fastcrf
from fastcrf.decoding.decoder_choice import Spent
Spent.seconds = 1000.0  # as after many sentences
print(fastcrf.load(sys.argv[1]).predict([[{"word": "31"}, {"word": "Elm"}]]))
"""
    result = without(code, OLDER / "estimator.crf")
    assert (result.returncode, result.stdout) == (0, "[['Number', 'Street']]\n"), result.stderr


COMMAND = """
sys.argv[0] = "fastcrf"
from fastcrf.cli.start import main
main()
"""


def test_the_command_tags_and_says_what_to_install_for_the_rest(tmp_path):
    data = tmp_path / "new.txt"
    data.write_text("31 D\nElm A\n")
    result = without(COMMAND, "tag", data, "-m", OLDER / "template.crf")
    assert (result.returncode, result.stderr) == (0, "")
    assert [line.split("\t")[:2] for line in result.stdout.splitlines()] == [["31", "D"], ["Elm", "A"]]
    for words in (["train", data], ["--help"], ["tag", data, "--model=x"]):
        result = without(COMMAND, *words)
        assert result.returncode == 1
        assert "pip install numba scikit-learn joblib rich typer" in result.stderr
        assert "Traceback" not in result.stderr


def test_training_from_python_says_what_to_install():
    result = without("from fastcrf import CRF")
    assert "This needs sklearn, which is not installed" in result.stderr.splitlines()[-1]
    assert "pip install numba" in result.stderr


def test_models_of_other_toolkits_tag(tmp_path):
    fastcrf.load(OLDER / "estimator.crf").save(tmp_path / "model.crfsuite")
    items, rows = [["a"], ["b"]], [["a", "b", "c"]] * 2
    for path, X in (
        (tmp_path / "model.crfsuite", items),
        (OTHERS / "crfpp-model.txt", rows),
        (OTHERS / "wapiti-model.txt", rows),
    ):
        code = "import fastcrf, json; print(fastcrf.load(sys.argv[1]).predict([json.loads(sys.argv[2])]))"
        result = without(code, path, json.dumps(X))
        assert result.stdout.strip() == str(fastcrf.load(path).predict([X])), result.stderr


def test_the_distribution_of_the_tagger_follows_that_of_the_whole():
    whole = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    tagger = tomllib.loads((REPOSITORY / "packaging" / "tagger" / "pyproject.toml").read_text())["project"]
    for name in ("license", "requires-python", "scripts"):
        assert tagger[name] == whole[name]
    assert sorted(tagger["dependencies"] + tagger["optional-dependencies"]["train"]) == sorted(whole["dependencies"])
    assert {each.partition(">")[0] for each in tagger["dependencies"]} == {"numpy", "safetensors"}
