from __future__ import annotations

import errno
import gzip
import json
import re
import signal
import subprocess
import sys
import threading
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from fastcrf import CRF, CRFCV, stopping
from fastcrf.cli.command_errors import as_options
from fastcrf.cli.options.solver_options import read_option
from fastcrf.cli.options.stopping_rules import RULES, read_rule
from fastcrf.cli.options.train_options import TrainOptions
from fastcrf.cli.reports import save
from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.files.conll import read_columns
from fastcrf.data.model_file import rescue
from fastcrf.fitting.fit import Fit
from fastcrf.model.model import Model
from fastcrf.stopping import CertifiedGap, EarlyStopping, MaxSeconds
from fastcrf.system import atomic_write
from fastcrf.training.driver import Result


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def train(run, corpus, tmp_path):
    """Train on the corpus with one thread, as JSON; the model is new.crf."""

    def invoke(*arguments):
        return run("train", corpus, "-m", tmp_path / "new.crf", "--json", "--quiet", "--n-jobs", 1, *arguments)

    return invoke


def test_training_tells_objective_certificate_status_passes_and_seconds(run, corpus, tmp_path):
    result = run("train", corpus, "-m", tmp_path / "new.crf", "--n-jobs", 1)
    assert result.exit_code == 0
    for word in (
        "objective",
        "certificate",
        "within",
        "status       converged:",
        "passes over the data",
        " s\n",
        "saved in",
    ):
        assert word in result.stdout
    assert "auto" in result.stderr  # the progress
    assert Model.load(tmp_path / "new.crf").input == {"kind": "columns", "n_columns": 2}


def test_the_outcome_as_json_holds_what_was_asked_for(train, tmp_path):
    outcome = json.loads(train("--c2", 0.5, "--tol", 1e-6).stdout)
    assert (outcome["algorithm"], outcome["c1"], outcome["c2"]) == ("auto", 0, 0.5)
    assert outcome["converged"]
    assert outcome["status"] == "converged"
    assert outcome["relative_gap"] <= 1e-6
    assert outcome["passes"] >= outcome["steps"] > 0
    assert outcome["labels"] == 3
    assert outcome["dev_accuracy"] is None
    assert Model.load(tmp_path / "new.crf").options["parameters"]["c2"] == 0.5


def test_the_same_training_gives_the_same_file(train, corpus, tmp_path):
    contents = set()
    for _ in range(3):
        assert train("--dev", corpus.parent / "dev.txt").exit_code == 0
        contents.add((tmp_path / "new.crf").read_bytes())
    assert len(contents) == 1


def test_an_l1_penalty_gives_a_smaller_model(train):
    sparse = json.loads(train("--c1", 1, "--c2", 0).stdout)
    assert sparse["algorithm"] == "auto"
    assert 0 < sparse["weights"] < json.loads(train().stdout)["weights"] / 2


def test_held_out_data_are_scored(train, corpus):
    outcome = json.loads(train("--dev", corpus.parent / "dev.txt", "--patience", 3).stdout)
    assert (outcome["dev_accuracy"], outcome["dev_segment_f1"]) == (1.0, 1.0)


def test_training_ends_by_the_held_out_segment_f1_and_prints_it(run, corpus, tmp_path):
    rule = "early-stopping:patience=2:score=segment_f1"
    options = ["--dev", corpus.parent / "dev.txt", "--stopping", rule, "--tol", 1e-9]
    result = run("train", corpus, "-m", tmp_path / "new.crf", *options)
    assert "The held-out segment_f1 has not improved for 2 iterations" in result.stdout
    assert "held-out     token accuracy 100.00%, segment F1 100.00%\n" in result.stdout


def test_a_model_can_be_the_start(train, model):
    assert json.loads(train("--init", model).stdout)["steps"] < json.loads(train().stdout)["steps"]


def test_a_model_can_be_the_prior(train, model):
    assert json.loads(train("--prior", model).stdout)["objective"] < json.loads(train().stdout)["objective"]


def test_options_reach_the_solver_without_changing_the_stopping_rules(train):
    plain, with_option = (json.loads(train("-a", "lbfgs", *more).stdout) for more in ([], ["-o", "pairs=1"]))
    assert with_option["steps"] != plain["steps"]
    assert plain["reason"].startswith("The certified relative gap")
    assert with_option["reason"].startswith("The certified relative gap")


@pytest.mark.parametrize(
    ("arguments", "word", "status"),
    [(["--max-iterations", 2], "Reached max_iterations=2", "stopped"), (["--max-seconds", 1e-9], "seconds", "stopped")],
)
def test_limits_end_training_and_the_model_is_saved(train, tmp_path, arguments, word, status):
    outcome = json.loads(train(*arguments).stdout)
    assert outcome["status"] == status
    assert word in outcome["reason"]
    assert not outcome["converged"]
    assert (tmp_path / "new.crf").exists()


def test_a_run_without_a_penalty_has_no_gap_in_its_json(train):
    outcome = json.loads(train("--c2", 0, "--max-iterations", 3).stdout)
    assert outcome["gap"] is None
    assert "no certificate" in outcome["certificate"]


def test_data_come_from_standard_input_or_gzip_just_as_well(run, corpus, model, tmp_path):
    (tmp_path / "train.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    options = ["--quiet", "--n-jobs", "1"]
    assert run("train", "-", "-m", tmp_path / "a.crf", *options, input=corpus.read_bytes()).exit_code == 0
    assert run("train", tmp_path / "train.gz", "-m", tmp_path / "b.crf", *options).exit_code == 0
    expected = Model.load(model)
    for name in ("a.crf", "b.crf"):
        found = Model.load(tmp_path / name)
        assert (found.attributes, found.labels, found.input) == (expected.attributes, expected.labels, expected.input)
        np.testing.assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a D B\n\nb C\n", r"bad\.txt:3: found 2 columns instead of 3"),
        ("word\n", r"bad\.txt:1: found 1 column, but training needs at least 2, the last of them the label"),
        ("\n\n", r"bad\.txt holds no sentence"),
    ],
)
def test_a_broken_file_is_named_with_its_line_and_the_old_model_stays(run, tmp_path, text, sentence):
    (tmp_path / "bad.txt").write_text(text)
    (tmp_path / "old.crf").write_text("lCRF, an older model")
    result = run("train", tmp_path / "bad.txt", "-m", tmp_path / "old.crf", "--quiet")
    assert result.exit_code == 1
    assert re.search(sentence, result.stderr)
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "old.crf").read_text() == "lCRF, an older model"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["-a", "nothing"], 1, "There is no solver 'nothing'; use one of auto, lbfgs"),
        (["-a", "lbgfs"], 1, "There is no solver 'lbgfs'; did you mean 'lbfgs'?"),
        (["-o", "pair=3"], 1, "auto has no option 'pair'; did you mean 'pairs'?"),
        (["-o", "pairs=none"], 1, "pairs must be a whole number"),
        (["-o", "pairs"], 2, "--option expects NAME=VALUE, such as pairs=20; got 'pairs'. See fastcrf train --help."),
        (["--c2", "-1"], 1, "--c2 must be a finite number of at least 0; got --c2 -1.0."),
        (["-a", "perceptron"], 1, "perceptron has no penalty, but --c2 1: set --c2 0."),
        (["-a", "owlqn"], 1, "owlqn requires an L1 penalty, but --c1 0: set --c1 above 0, or use lbfgs."),
        (
            ["--max-iterations", "0"],
            1,
            "--max-iterations must be a whole number of at least 1; got --max-iterations 0.",
        ),
        (["--max-seconds", "0"], 1, "--max-seconds must be a finite number above 0; got --max-seconds 0.0."),
        (["--patience", "3"], 2, "fastcrf: --patience requires held-out data; add --dev FILE. See"),
        (["--stopping", "early-stopping"], 2, "--stopping early-stopping requires held-out data; add --dev FILE."),
        (["--stopping", "gradient-nrom:tol=1"], 2, "knows no rule 'gradient-nrom'; did you mean gradient-norm?"),
        (["--stopping", "gradient-norm"], 2, "gradient-norm requires tol; write gradient-norm:tol=VALUE."),
        (["--stopping", "gradient-norm:limit=1"], 2, "gradient-norm has no option 'limit'; its options are tol, norm"),
        (["--stopping", "gradient-norm:tol=x"], 2, "gradient-norm: tol must be a finite number of at least 0"),
        (["--stopping", "gradient-norm:tol"], 2, "--stopping expects NAME=VALUE"),
        (["--chunk-size", "10"], 2, "--chunk-size requires --online."),
        (["--total-sequences", "10"], 2, "--total-sequences requires --online."),
        (["--resume"], 2, "--resume requires a checkpoint; add --checkpoint FILE."),
        (["--local-epochs", "1"], 2, "--local-epochs requires a cluster; add --engine ENGINE."),
        (["--init", "missing.crf"], 1, "No such file or directory: missing.crf"),
        (["--n-jobs", "0"], 1, "--n-jobs 0 is not valid; use a number of threads"),
    ],
)
def test_a_wrong_option_is_one_sentence(run, corpus, tmp_path, arguments, code, sentence):
    result = run("train", corpus, "-m", tmp_path / "new.crf", *arguments)
    assert result.exit_code == code
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "new.crf").exists()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("no/folder/m.crf", "No such folder"), (".", "This is a folder"), ("/dev/null", "pipe or device")],
)
def test_a_place_where_no_model_can_be_saved_raises_an_error_before_training(run, tmp_path, path, sentence):
    result = run("train", "there-is-no-such-data", "-m", tmp_path / path)
    assert result.exit_code == 1
    assert sentence in result.stderr


def test_a_model_that_cannot_be_saved_is_kept_elsewhere(train, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(rescue.tempfile, "gettempdir", lambda: str(kept))
    monkeypatch.setattr(atomic_write.os, "replace", full_disk)
    result = train()
    assert result.exit_code == 1
    assert not (tmp_path / "new.crf").exists()
    (saved,) = kept.iterdir()
    assert f"Cannot write {tmp_path / 'new.crf'}: No space left on device. The model is saved in {saved} instead" in (
        result.stderr
    )
    assert set(Model.load(saved).labels) == {"B-NP", "I-NP", "O"}


def test_a_disk_that_is_full_is_noticed_before_training(train, tmp_path, monkeypatch):
    monkeypatch.setattr(rescue.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    monkeypatch.setattr("fastcrf.fitting.fit.minimize", None)  # training would call it
    result = train()
    assert result.exit_code == 1
    assert re.search(r"The model takes at least [0-9.]+ MB, and .* has 0.0001 MB free\. Free some space", result.stderr)


@pytest.mark.parametrize("option", [["--order", 2], ["--boundaries"]])
def test_a_model_that_crfsuite_cannot_hold_raises_an_error_before_training(run, tmp_path, option):
    result = run("train", "missing.txt", "-m", tmp_path / "new.crfsuite", *option)
    assert result.exit_code == 2
    assert f"{option[0]} cannot be saved in CRFsuite's format; choose a --model" in result.stderr


def test_held_out_data_need_the_columns_of_the_training_data(train, tmp_path):
    (tmp_path / "dev.txt").write_text("dog I-NP\n")
    result = train("--dev", tmp_path / "dev.txt")
    assert result.exit_code == 1
    assert "dev.txt:1: found 2 columns, but the model needs 3, the last of them the label" in result.stderr


@pytest.mark.parametrize(
    ("status", "sentence"), [("diverged", "Training diverged.* The sky fell"), ("interrupted", "no model was saved")]
)
def test_what_learnt_nothing_is_not_saved(model, tmp_path, status, sentence):
    result = Result(None, [], status, "The sky fell.", None, n_steps=0, state={})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=sentence):
        save(Fit(Model.load(model), result, False, False), {"kind": "items"}, str(tmp_path / "new.crf"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "option"), [("a=1", ("a", 1)), ("b=0.5", ("b", 0.5)), ("c=true", ("c", True)), ("d=x=y", ("d", "x=y"))]
)
def test_option_values_are_numbers_truths_or_words(text, option):
    assert read_option(text) == option


def test_ctrl_c_ends_training_and_saves_what_was_learnt(tmp_path):
    tokens, labels = make_addresses(1500)
    rows = ("".join(f"{t} {y}\n" for t, y in zip(*pair, strict=True)) for pair in zip(tokens, labels, strict=True))
    (tmp_path / "train.txt").write_text("\n".join(rows))
    command = [sys.executable, "-m", "fastcrf", "train", "train.txt", "-m", "m.crf", "--tol", "0", "--n-jobs", "1"]
    command += ["-a", "accelerated-gradient", "--c2", "0.001", "--max-iterations", "1000000"]  # slow enough
    command += ["--checkpoint", "run.state", "--checkpoint-every", "0"]
    pause = threading.Event()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "run.state").exists() and process.poll() is None:
            pause.wait(0.01)  # until it learns
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert (told + errors).count("Interrupted by Ctrl-C after iteration") == 1
    assert "status       interrupted: Interrupted by Ctrl-C after iteration" in told
    assert Model.load(tmp_path / "m.crf").predict_single([["bias"]])


@pytest.mark.parametrize(
    ("rule", "algorithm", "reason"),
    [
        ("gradient-norm:tol=1e-3", "lbfgs", "The largest component of the gradient is"),
        ("gradient-norm:tol=1e-3:per-sequence=true", "sag-nus-star", "divided by the number of sequences"),
        ("relative-decrease:tol=0.5:iterations=2", "lbfgs", "in 2 iterations, at most 0.5"),
        ("max-passes:limit=3", "lbfgs", "Reached max_passes=3"),
    ],
)
def test_stopping_rules_are_written_with_their_options(train, rule, algorithm, reason):
    assert reason in json.loads(train("-a", algorithm, "--tol", "0", "--stopping", rule).stdout)["reason"]


def test_every_public_rule_has_a_name():
    assert {read_rule(text) for text in ("early-stopping", "max-seconds:limit=2", "certified-gap:tol=0.1")} == {
        EarlyStopping(),
        MaxSeconds(2),
        CertifiedGap(0.1),
    }
    assert set(RULES.values()) == set(stopping.__all__)


def test_a_message_names_options_and_not_parameters():
    assert (
        as_options("random_state=-1; n_jobs; c2=1, min_count=2.")
        == "--random-state -1; --n-jobs; --c2 1, --min-count 2."
    )
    assert as_options("x: set c1=0 and c2 > 0.") == "x: set --c1 0 and --c2 above 0."
    assert as_options("order=1 or boundaries=True; a tol, in order.") == "--order 1 or --boundaries; a tol, in order."


def test_a_message_leaves_paths_alone():
    for path in ("runs/c2=1/m.crf", "m_c2=1.crf", "a-n_jobs=2", "./tol=0"):
        assert as_options(f"Cannot read {path}.") == f"Cannot read {path}."


PANELS = ["Data", "Features", "Penalty", "Algorithm", "Stopping", "Saving and resuming", "Online", "Cluster", "Output"]


def test_the_help_has_panels_with_every_option_and_its_default(run):
    text = run("train", "--help").stdout
    panels = re.split(r"^(\S[^\n]*):$", text, flags=re.MULTILINE)[1:]
    assert panels[::2] == PANELS
    assert "--c1" in panels[2 * PANELS.index("Penalty") + 1]
    assert "-h, --help" in panels[-1]
    for default in ("[default: 1.0]", "[default: 0.001]", "[default: auto]"):
        assert default in text
    for field in fields(TrainOptions):
        if field.name not in ("data", "as_json"):
            assert f"--{field.name.replace('_', '-')}" in text


def test_options_are_named_like_the_parameters_of_crf():
    of_cli = {field.name for field in fields(TrainOptions)}
    assert set(CRF().get_params()) - of_cli == {"callbacks", "verbose"}


def test_names_of_earlier_development_versions_are_unknown(run, corpus, tmp_path):
    for old in ("--jobs", "--seed", "--seconds", "--cluster", "--all-states", "--gradient-tol", "--chunk"):
        assert run("train", corpus, "-m", tmp_path / "m.crf", old, 1).exit_code == 2


def test_folds_choose_c2_which_the_model_remembers(train, tmp_path):
    outcome = json.loads(train("--cv", 2).stdout)
    assert outcome["c2"] in [pytest.approx(value) for value in np.geomspace(10, 0.01, 10)]
    assert Model.load(tmp_path / "new.crf").options["parameters"]["c2"] == outcome["c2"]


def test_folds_read_templates_and_cut_offs_as_training_does(run, tmp_path):
    """The folds of the command line are those of CRFCV with the same parameters."""
    lines = ["the D", "cat N", "sat V", "on P", "a D", "mat N", "the D", "dog N", "ran V"]
    (tmp_path / "train.txt").write_text("".join("\n".join([*lines[k : k + 3], "\n"]) for k in range(7)) * 2)
    (tmp_path / "template.txt").write_text("U:%x[0,0]\nU:%x[-1,0]\nB\n")
    words = ("--template", tmp_path / "template.txt", "--min-count", 5, "--cv", 3, "--n-jobs", 1)
    told = run("train", tmp_path / "train.txt", "-m", tmp_path / "new.crf", *words).stderr
    sentences = list(read_columns(tmp_path / "train.txt"))
    X = [[row[:-1] for row in sentence.rows] for sentence in sentences]
    y = [[row[-1] for row in sentence.rows] for sentence in sentences]
    search = CRFCV(CRF(template=tmp_path / "template.txt", min_count=5), cv=3, refit=False).fit(X, y)
    assert f"c2={search.c2_:.3g}: held-out log-likelihood of a token {search.best_score_:.4f}" in told
    for other in ({"min_count": 1}, {"template": "U:%x[0,0]\nB\n"}):
        search.set_params(**{f"estimator__{k}": v for k, v in other.items()}).fit(X, y)
        assert f"{search.best_score_:.4f}" not in told


def test_folds_are_not_cut_from_an_encoded_corpus(run, corpus, tmp_path):
    assert run("encode", corpus, "-o", tmp_path / "corpus.fcc").exit_code == 0
    result = run("train", tmp_path / "corpus.fcc", "-m", tmp_path / "new.crf", "--cv", 2)
    assert "--cv cannot use an encoded corpus" in result.output


def test_folds_and_c2_are_not_given_together(run, corpus, tmp_path):
    result = run("train", corpus, "-m", tmp_path / "new.crf", "--cv", 2, "--c2", 1)
    assert result.exit_code == 2
    assert "cannot be combined with --c2" in result.output


def test_order_and_boundaries_are_trained_saved_and_shown(train, run, corpus, tmp_path):
    assert train("--order", 2, "--boundaries", "--max-iterations", 3).exit_code == 0
    model = Model.load(tmp_path / "new.crf")
    assert model.features.order == 2
    assert model.ngram_features_
    assert model.attributes.names()[0].startswith("<start")
    shown = run("info", tmp_path / "new.crf")
    assert shown.exit_code == 0
    assert "largest weights of longer label n-grams:" in shown.output
    assert run("tag", corpus, "-m", tmp_path / "new.crf").exit_code == 0
    refused = train("--order", 10)
    assert refused.exit_code != 0
    assert "--order 10 is not supported; use an order from 1 to 9" in refused.output


def test_partial_labels_are_read_from_a_column(run, tmp_path):
    (tmp_path / "train.txt").write_text("the D\ndog N\n\nthe ?\ndog N|V\n\nsees V\n\n" * 5)
    arguments = ("train", tmp_path / "train.txt", "-m", tmp_path / "m.crf", "--n-jobs", 1)
    result = run(*arguments, "--partial-labels", "?", "--json")
    assert result.exit_code == 0, result.output
    model = Model.load(tmp_path / "m.crf")
    assert model.classes_ == ["D", "N", "V"]
    assert "not convex" in json.loads(result.stdout)["reason"]
    (tmp_path / "new.txt").write_text("the\ndog\n")
    assert run("tag", tmp_path / "new.txt", "-m", tmp_path / "m.crf").stdout == "the\tD\ndog\tN\n"
    for options in (["--cv", "3"], ["--engine", "local:1"], ["--online"], ["--checkpoint", tmp_path / "c"]):
        refused = run(*arguments, "--partial-labels", "?", *options)
        assert refused.exit_code == 2
        assert "cannot be combined with" in refused.output
