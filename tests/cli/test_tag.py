from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastcrf.cli.data_files import files_of
from fastcrf.cli.tagging.result_lines import result_lines
from fastcrf.cli.tagging.tagged_lines import TagFormat
from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.model.model import Model

LINES = st.lists(st.sampled_from(["the D", "dog\tN", "sees  V", "", " \t", "unseen X"]), max_size=20)


def without_labels(text: str) -> str:
    return re.sub(r" \S+\n", "\n", text)


def test_each_line_gets_the_label_of_the_model(run, corpus, model):
    result = run("tag", corpus, "-m", model)
    assert result.exit_code == 0
    gold = corpus.read_text().replace(" ", "\t")
    assert result.stdout == re.sub(r"(\S+)\n", r"\1\t\1\n", gold)  # a corpus that is learnt without a fault


def test_the_column_of_labels_may_be_missing(run, corpus, model, tmp_path):
    (tmp_path / "new.txt").write_text(without_labels(corpus.read_text()))
    result = run("tag", tmp_path / "new.txt", "-m", model)
    assert result.stdout == corpus.read_text().replace(" ", "\t")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(lines=LINES, end=st.sampled_from(["", "\n"]))
def test_line_n_of_the_output_belongs_to_line_n_of_the_input(model, tmp_path, monkeypatch, lines, end):
    monkeypatch.setattr("fastcrf.cli.tagging.tagged_lines.AT_ONCE", 2)
    (tmp_path / "new.txt").write_text("\n".join(lines) + end)
    trained = Model.load(model)
    tagged = list(result_lines(trained, files_of(trained, False, "space"), str(tmp_path / "new.txt"), TagFormat()))
    read = ("\n".join(lines) + end).splitlines()
    assert [line.split("\t")[:-1] for line in tagged] == [line.split() for line in read]
    assert all(line.split("\t")[-1] in ("B-NP", "I-NP", "O") for line in tagged if line)


def test_tokens_and_labels_with_spaces_are_trained_tagged_and_scored(run, tmp_path):
    (tmp_path / "train.txt").write_text("New York\tCITY NAME\nis\tO\n\n" * 20)
    assert run("train", tmp_path / "train.txt", "-m", tmp_path / "m.crf", "--quiet").exit_code == 0
    result = run("tag", tmp_path / "train.txt", "-m", tmp_path / "m.crf")
    assert result.stdout.splitlines()[:2] == ["New York\tCITY NAME\tCITY NAME", "is\tO\tO"]
    result = run("tag", "-", "-m", tmp_path / "m.crf", "--separator", "tab", input=b"New York\n")
    assert result.stdout == "New York\tCITY NAME\n"
    assert "sequence accuracy  100.00%" in run("evaluate", tmp_path / "train.txt", "-m", tmp_path / "m.crf").stdout


def test_a_comma_file_gets_a_hint_and_is_read_with_it(run, tmp_path):
    (tmp_path / "train.csv").write_text("dog,N\nbites,V\n\n" * 20)
    options = ["train", tmp_path / "train.csv", "-m", tmp_path / "m.crf", "--quiet"]
    result = run(*options)
    assert result.exit_code == 1
    assert (
        "found 1 column, but training needs at least 2, the last of them the label. The line contains commas; if these"
        in result.stderr
    )
    assert run(*options, "--separator", ",").exit_code == 0
    assert Model.load(tmp_path / "m.crf").labels == ["N", "V"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--separator", "tabs"], "--separator must be tab, space or one character; got 'tabs'."),
        (["--separator", "tab", "--items"], "--separator is for columns, but --items means item files"),
    ],
)
def test_a_wrong_separator_is_named(run, corpus, tmp_path, more, message):
    result = run("train", corpus, "-m", tmp_path / "m.crf", *more)
    assert result.exit_code == 2
    assert message in result.stderr


def test_comments_of_conll_u_stay_where_they_are(run, model, tmp_path):
    (tmp_path / "new.txt").write_text("# sent_id = 1\nthe D\n\n# newpar\n# text = dog\ndog N\n\n# end = 1\n")
    lines = run("tag", tmp_path / "new.txt", "-m", model).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        "# sent_id = 1", "the", "", "# newpar", "# text = dog", "dog", "", "# end = 1",
    ]  # fmt: skip


def test_sentences_are_tagged_as_the_model_tags_them(model, tmp_path):
    (tmp_path / "new.txt").write_text("a D\nsees V\n\n\ncat N\n")
    trained = Model.load(model)
    expected = trained.predict([column_items([["a", "D"], ["sees", "V"]]), column_items([["cat", "N"]])])
    labels = [
        line.split("\t")[-1]
        for line in result_lines(trained, files_of(trained, False), str(tmp_path / "new.txt"), TagFormat())
        if line
    ]
    assert labels == [label for sentence in expected for label in sentence]


def test_standard_input_gzip_and_an_output_file_do_as_well(run, corpus, model, tmp_path):
    expected = run("tag", corpus, "-m", model).stdout
    (tmp_path / "in.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    assert run("tag", "-", "-m", model, input=corpus.read_bytes()).stdout == expected
    result = run("tag", tmp_path / "in.gz", "-m", model, "-o", tmp_path / "out.txt")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "out.txt").read_text() == expected


def test_a_broken_line_is_reported_and_nothing_is_written(run, corpus, model, tmp_path):
    (tmp_path / "bad.txt").write_text(corpus.read_text() + "the D\n")
    line = corpus.read_text().count("\n") + 1
    for output in ("-", tmp_path / "out.txt"):
        result = run("tag", tmp_path / "bad.txt", "-m", model, "-o", output)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert f"bad.txt:{line}: found 2 columns instead of 3" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


def test_another_number_of_columns_than_the_model_needs_is_reported(run, model, tmp_path):
    (tmp_path / "new.txt").write_text("\ndog\n")
    result = run("tag", tmp_path / "new.txt", "-m", model)
    assert result.exit_code == 1
    assert "new.txt:2: found 1 column, but the model needs 2, or 3 where the last is a label." in result.stderr


@pytest.mark.parametrize(("text", "output"), [(b"", ""), (b"\n\n", "\n\n")])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_empty_file_gives_an_empty_file_and_a_note(run, model, text, output, more):
    result = run("tag", "-", "-m", model, *more, input=text)
    assert (result.exit_code, result.stdout) == (0, "" if more else output)
    assert result.stderr == "fastcrf: <stdin> contains no sequences; the result has no labels.\n"


def test_a_missing_corrupt_or_foreign_model_is_one_sentence(run, corpus, model, tmp_path):
    (tmp_path / "half.crf").write_bytes(model.read_bytes()[:5000])
    (tmp_path / "other.crf").write_text("no model at all")
    loaded = Model.load(model)
    Model(loaded.labels, loaded.attributes, loaded.features, loaded.weights).save(tmp_path / "items.crf")
    for name, sentence in [
        ("missing.crf", "No such file or directory: "),
        ("half.crf", "Cannot load "),
        ("other.crf", "Cannot load "),
        ("items.crf", "This model takes items, not columns; give it an item file and --items"),
    ]:
        result = run("tag", corpus, "-m", tmp_path / name)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"fastcrf: {sentence}" in result.stderr
        assert result.stderr.count("\n") == 1


def test_data_that_cannot_be_read_are_one_sentence(run, model, tmp_path):
    (tmp_path / "latin.txt").write_bytes("caf\u00e9 N\n".encode("latin-1"))
    assert "Cannot read missing.txt" in run("tag", "missing.txt", "-m", model).stderr
    assert "latin.txt:1: byte 0xe9 is not UTF-8" in run("tag", tmp_path / "latin.txt", "-m", model).stderr


def test_tagging_imports_neither_scikit_learn_nor_rich_nor_the_solvers(corpus, model):
    code = (
        "import sys; from typer.testing import CliRunner; from fastcrf.cli.main import app\n"
        f"assert CliRunner().invoke(app, ['tag', {str(corpus)!r}, '-m', {str(model)!r}]).exit_code == 0\n"
        "sys.exit(', '.join({'sklearn', 'joblib', 'rich', 'fastcrf.solvers.registry'} & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_pipe_of_real_processes_works(corpus, model):
    command = [sys.executable, "-m", "fastcrf", "tag", "-", "-m", str(model)]
    result = subprocess.run(command, check=True, capture_output=True, input=b"the D\ndog N\n")
    assert result.stdout == b"the\tD\tB-NP\ndog\tN\tI-NP\n"


@pytest.mark.parametrize("arguments", [["tag"], ["tag", "x.txt"]])
def test_missing_arguments_are_a_wrong_command_line(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "See fastcrf tag --help." in result.stderr


def test_nbest_prints_a_block_for_each_label_sequence(run, corpus, model, tmp_path):
    (tmp_path / "new.txt").write_text("the D\ndog N\n\nsees V\n")
    sentences = [[["the", "D"], ["dog", "N"]], [["sees", "V"]]]
    best = Model.load(model).predict_nbest([column_items(rows) for rows in sentences], 2)
    result = run("tag", tmp_path / "new.txt", "-m", model, "--nbest", 2)
    expected = "".join(
        f"# {rank} {p:.6f}\n" + "".join("\t".join([*row, k]) + "\n" for row, k in zip(rows, y, strict=True)) + "\n"
        for rows, ranked in zip(sentences, best, strict=True)
        for rank, (y, p) in enumerate(ranked)
    )
    assert (result.stdout, result.stderr) == (expected, "")
    plain = run("tag", tmp_path / "new.txt", "-m", model, "--nbest", 2, "--nbest-form", "wapiti")
    assert plain.stdout == re.sub(r"# .*\n", "", expected)
    found = run("tag", tmp_path / "new.txt", "-m", model, "--nbest", 2, "--json").stdout.splitlines()
    assert [json.loads(line)["nbest"][1]["labels"] for line in found] == [ranked[1][0] for ranked in best]
    assert [json.loads(line)["line"] for line in found] == [1, 4]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--nbest", "0"], "--nbest must be at least 1; got 0"),
        (["--nbest", "2", "--nbest-form", "mallet"], "--nbest-form must be crfpp or wapiti; got 'mallet'"),
        (["--nbest", "2", "--spans"], "--nbest cannot be combined with --spans"),
        (["--nbest", "2", "--decode", "mbr"], "--nbest cannot be combined with"),
    ],
)
def test_wrong_uses_of_nbest_are_reported(run, corpus, model, options, fault):
    result = run("tag", corpus, "-m", model, *options)
    assert result.exit_code == 2
    assert fault in result.output
