"""Templates and item files on the command line: raw files in, labels out."""

from __future__ import annotations

import json
import re

import pytest
from seqeval.metrics import f1_score, precision_score, recall_score

from fastcrf.cli import reading_bar
from fastcrf.data.files.conll import read_columns
from fastcrf.model.model import Model
from fastcrf.model.scored import scored

CRFPP = "U00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,1]/%x[1,1]\nB\n"
WAPITI = 'u:%X[0,0]\n*\nu:%m[0,0,"..$"]/%x[1,1]\n'
CRFSUITE = "fields = 'w pos y'\ntemplates = ((('w', 0),), (('pos', 0), ('pos', 1)))\n"


@pytest.fixture
def trained(run, corpus, tmp_path):
    """Train on the corpus with a template; returns the path of the model."""

    def train(template, *options):
        (tmp_path / "template").write_text(template)
        path = tmp_path / "model.crf"
        result = run("train", corpus, "-m", path, "--template", tmp_path / "template", "--n-jobs", 1, "-q", *options)
        assert (result.exit_code, result.output) == (0, "")
        return path

    return train


@pytest.mark.parametrize("template", [CRFPP, WAPITI, CRFSUITE])
def test_a_model_with_a_template_tags_and_scores_raw_columns(run, corpus, trained, template):
    path = trained(template)
    result = run("tag", corpus, "-m", path)
    assert result.stdout == re.sub(r"(\S+)\n", r"\1\t\1\n", corpus.read_text().replace(" ", "\t"))
    result = run("evaluate", corpus, "-m", path, "--json")
    assert json.loads(result.stdout)["segments"]["f1"] == 1.0


def test_a_built_in_template_is_known_by_its_name(run, corpus, tmp_path):
    result = run("train", corpus, "-m", tmp_path / "m", "-t", "crfsuite-chunking", "--n-jobs", 1, "--max-iterations", 3)
    assert result.exit_code == 0
    assert "w[0]|w[1]=the|dog" in Model.load(tmp_path / "m").attributes.names()


def test_the_template_says_whether_there_are_transitions(trained):
    assert not Model.load(trained("U:%x[0,0]\n")).transition_features_
    assert Model.load(trained("U:%x[0,0]\nB\n")).transition_features_


def test_the_kind_can_be_recognized_and_decides_the_padding(trained):
    assert "U00:_B-1" in Model.load(trained(CRFPP)).attributes.names()
    assert "u00:_x-1" in Model.load(trained(CRFPP, "--template-kind", "wapiti")).attributes.names()


def test_all_labels_and_pairs_get_weights_and_rare_attributes_none(run, corpus, trained, tmp_path):
    model = Model.load(trained(CRFPP, "--all-possible-states", "--all-possible-transitions"))
    assert model.features.n_weights == 3 * len(model.attributes) + 9
    fewer = Model.load(trained(CRFPP, "--all-possible-states", "--min-count", 10))
    assert 0 < len(fewer.attributes) < len(model.attributes)
    result = run("train", corpus, "-m", tmp_path / "m", "-t", tmp_path / "template", "--min-count", 0)
    assert result.exit_code == 1
    assert "--min-count must be a whole number" in result.stderr


def test_scores_and_marginals_are_added(run, corpus, trained):
    path = trained(CRFPP)
    plain = run("tag", corpus, "-m", path).stdout.splitlines()
    lines = run("tag", corpus, "-m", path, "--scores", "--marginals").stdout.splitlines()
    assert [line.split("\t")[:4] for line in lines if not line.startswith("#")] == [
        line.split("\t")[:4] for line in plain
    ]
    sentences = list(read_columns(corpus))
    found = scored(Model.load(path), [sentence.rows for sentence in sentences])
    assert [line for line in lines if line.startswith("#")] == [f"# {each.probability:.6f}" for each in found]
    first = lines[1].split("\t")
    label = first[3]
    assert float(first[4]) == pytest.approx(found[0].marginals[0][label], abs=1e-6)
    assert dict(column.rsplit("/", 1) for column in first[5:])[label] == first[4]
    only = run("tag", corpus, "-m", path, "--marginals").stdout.splitlines()
    assert [line.count("\t") for line in only] == [6 if line else 0 for line in plain]


def test_the_figures_of_evaluate_are_those_of_seqeval(run, corpus, trained, tmp_path):
    path = trained(CRFPP, "--max-iterations", 2)
    noisy = corpus.read_text().replace("dog N I-NP", "dog N B-NP").replace("bird N I-NP", "bird N O")
    (tmp_path / "noisy.txt").write_text(noisy)
    gold = [[row[-1] for row in sentence.rows] for sentence in read_columns(tmp_path / "noisy.txt")]
    found = Model.load(path).predict([sentence.rows for sentence in read_columns(tmp_path / "noisy.txt")])
    scores = json.loads(run("evaluate", tmp_path / "noisy.txt", "-m", path, "--json").stdout)
    figures = [scores["segments"][name] for name in ("precision", "recall", "f1")]
    assert figures == pytest.approx([score(gold, found) for score in (precision_score, recall_score, f1_score)])
    assert 0 < scores["segments"]["f1"] < 1


def test_item_files_train_tag_and_evaluate(run, tmp_path):
    text = "@weight:2\nN\tw=dog\tnum:0.5\nV\tw=sees\n\nV\tw=bites\tnum:-1\n\n" * 5
    (tmp_path / "items.txt").write_text(text)
    data, path = tmp_path / "items.txt", tmp_path / "model.crf"
    result = run("train", data, "-m", path, "--items", "--dev", data, "--n-jobs", 1, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert run("tag", data, "-m", path, "--items").stdout == "\nN\nV\n\nV\n\n" * 5
    assert run("tag", data, "-m", path, "--items", "--scores").stdout.startswith("\n# 0.")
    assert "100.00%" in run("evaluate", data, "-m", path, "--items").stdout
    unweighted = tmp_path / "unweighted.crf"
    (tmp_path / "plain.txt").write_text(text.replace("@weight:2\n", ""))
    run("train", tmp_path / "plain.txt", "-m", unweighted, "--items", "--n-jobs", 1, "-q")
    assert Model.load(unweighted).state_features_ != Model.load(path).state_features_


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "corpus", "-m", "new", "--template-kind", "crfpp"], 2, "add --template FILE"),
        (["train", "corpus", "-m", "new", "-t", "template", "--items"], 2, "remove one of them"),
        (["train", "corpus", "-m", "new", "-t", "missing"], 1, "Cannot read missing"),
        (
            ["train", "corpus", "-m", "new", "-t", "far"],
            1,
            "train.txt:1: found 3 columns, but training needs at least 5",
        ),
        (["train", "corpus", "-m", "new", "-t", "bigram"], 1, "bigram:2:4: bigram templates with macros come later"),
        (["train", "corpus", "-m", "new", "-t", "template", "--template-kind", "x"], 1, "There is no kind of template"),
        (["train", "empty", "-m", "new", "--items"], 1, "empty holds no item"),
        (["tag", "corpus", "-m", "model", "--items"], 1, "This model reads columns, not items; leave out --items."),
        (["evaluate", "corpus", "-m", "model", "--items"], 1, "This model reads columns, not items"),
    ],
)
def test_what_does_not_fit_is_one_sentence(run, corpus, model, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "template").write_text(CRFPP)
    (tmp_path / "far").write_text("U:%x[0,3]")
    (tmp_path / "bigram").write_text("U\nB1:%x[0,0]")
    (tmp_path / "empty").write_text("\n")
    paths = {"corpus": str(corpus), "model": str(model)}
    result = run(*[paths.get(argument, argument) for argument in arguments])
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_bar_shows_what_share_of_a_large_file_has_been_read(run, corpus, tmp_path, monkeypatch):
    shares = []

    class Recorder(reading_bar.Bar):
        def __call__(self, share):
            shares.append(share)
            super().__call__(share)

        def close(self):
            shares.append("closed")
            super().close()

    monkeypatch.setattr(reading_bar, "Bar", Recorder)
    monkeypatch.setattr("fastcrf.data.files.text_lines.BLOCK", 500)
    assert run("train", corpus, "-m", tmp_path / "m", "--n-jobs", 1, "--max-iterations", 1).exit_code == 0
    assert shares[-1] == "closed"
    assert all(0 < share <= 1 for share in shares[:-1])
    assert len(shares) > 2
    shares.clear()
    run("train", "-", "-m", tmp_path / "m", "--n-jobs", 1, "--max-iterations", 1, input=corpus.read_bytes())
    assert set(shares) == {None, "closed"}
