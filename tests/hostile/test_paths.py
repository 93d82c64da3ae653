"""Nothing is written over what is read, nothing of others is replaced, and what cannot be written is told at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fastcrf
from fastcrf import CRF
from fastcrf.system.atomic_write import replace_file

TRAIN = ("--quiet", "--n-jobs", 1, "--max-iterations", 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-m", "train.txt"], "train.txt is the training data and cannot be the model as well; choose another path."),
        (["-m", "./train.txt"], "is the training data and cannot be the model"),
        (["-m", "link.txt"], "is the training data and cannot be the model"),
        (["-m", "hard.txt"], "is the training data and cannot be the model"),
        (["-m", "dev.txt", "--dev", "dev.txt"], "dev.txt is the held-out data and cannot be the model"),
        (["-m", "t.txt", "-t", "t.txt"], "t.txt is the template and cannot be the model"),
        (["-m", "m.crf", "--checkpoint", "train.txt"], "is the training data and cannot be the checkpoint"),
        (["-m", "m.crf", "--checkpoint", "t.txt", "-t", "t.txt"], "is the template and cannot be the checkpoint"),
        (["-m", "m.crf", "--checkpoint", "m.crf"], "m.crf is the model and cannot be the checkpoint as well"),
        (["-m", "thesis.txt"], "thesis.txt exists and is not a file of fastcrf; choose another path, or add --force"),
        (["-m", "m.crf", "--checkpoint", "thesis.txt"], "thesis.txt exists and is not a file of fastcrf"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_something_else_needs_is_never_written(run, data, monkeypatch, arguments, sentence, force):
    folder = data.parent
    monkeypatch.chdir(folder)
    for name in ("dev.txt", "thesis.txt"):
        (folder / name).write_text(data.read_text())
    (folder / "t.txt").write_text("U00:%x[0,0]\n")
    (folder / "link.txt").symlink_to(data)
    os.link(data, folder / "hard.txt")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    foreign = "not a file of fastcrf" in sentence
    result = run("train", "train.txt", *arguments, *TRAIN, *(["--force"] if force else []))
    if force and foreign:
        assert result.exit_code == 0
        return
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_models_checkpoints_and_empty_files_are_ours_to_replace(run, data, tmp_path):
    model, state = tmp_path / "m.crf", tmp_path / "run.state"
    model.touch()
    state.touch()
    for _ in range(2):
        assert run("train", data, "-m", model, "--checkpoint", state, *TRAIN).exit_code == 0
    assert run("train", data, "-m", state, *TRAIN).exit_code == 1  # but each only by its kind
    assert run("train", data, "-m", tmp_path / "new.crf", "--checkpoint", model, *TRAIN).exit_code == 1
    (tmp_path / "old.crfsuite").write_bytes(b"lCRF" + bytes(60))
    assert run("train", data, "-m", tmp_path / "old.crfsuite", *TRAIN).exit_code == 0


def test_tagging_and_comparing_never_write_over_what_they_read(run, data, tmp_path):
    model = tmp_path / "m.crf"
    run("train", data, "-m", model, *TRAIN)
    before = data.read_bytes(), model.read_bytes()
    for output in (data, model):
        assert "and cannot be the output as well" in run("tag", data, "-m", model, "-o", output).stderr
    assert "cannot be the rows as well" in run("compare", data, "--rows", data).stderr
    assert (data.read_bytes(), model.read_bytes()) == before


def test_converting_does_not_replace_what_is_not_a_model(run, data, tmp_path):
    model = tmp_path / "m.crf"
    run("train", data, "-m", model, *TRAIN)
    before = data.read_bytes()
    result = run("convert", model, data)
    assert (result.exit_code, data.read_bytes()) == (1, before)
    assert "exists and is not a file of fastcrf; choose another path, or add --force to replace it." in result.stderr
    assert run("convert", model, data, "--force").exit_code == 0
    assert run("convert", data, model).exit_code == 0  # a model is ours to replace


def test_a_demo_does_not_replace_what_is_not_a_model(run, tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    result = run("demo", "-o", tmp_path / "thesis.txt")
    assert (result.exit_code, "choose another path, by --output" in result.stderr) == (1, True)
    assert (tmp_path / "thesis.txt").read_text() == "all my work"


@pytest.mark.parametrize("name", ["missing/model.crf", "."])
def test_an_estimator_checks_the_path_of_a_checkpoint_before_it_trains(name, tmp_path):
    steps = []
    with pytest.raises(OSError, match=r"No such folder|cannot be replaced"):
        CRF(callbacks=[steps.append]).fit([[["a"]]], [["x"]], checkpoint=tmp_path / name)
    assert not steps


@pytest.mark.parametrize("every", ["nan", "-1", "inf"])
def test_checkpoint_every_is_checked_before_anything_is_read(run, tmp_path, every):
    arguments = ("-m", tmp_path / "m.crf", "--checkpoint", tmp_path / "s", "--checkpoint-every", every)
    result = run("train", tmp_path / "nothing.txt", *arguments)
    assert (result.exit_code, "--checkpoint-every must be a finite number" in result.stderr) == (1, True)


def test_a_closed_standard_output_is_one_sentence(run, shell, data, tmp_path):
    run("train", data, "-m", tmp_path / "m.crf", *TRAIN)
    code, errors = shell(f"fastcrf tag {data} -m {tmp_path / 'm.crf'} >&-")
    assert (code, errors) == (1, "fastcrf: Standard output is closed; name a file by --output\n")
    for command in (f"tag {data} -m {tmp_path / 'm.crf'}", "solvers"):
        code, errors = shell(f"fastcrf {command} > /dev/full")
        assert (code, errors) == (1, "fastcrf: No space left on device: standard output\n")


WRITER = """
import sys
from pathlib import Path
from fastcrf.system.atomic_write import new_file
with new_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()  # until it is killed
"""


def test_the_part_of_a_killed_writer_is_removed_and_that_of_a_living_one_is_not(tmp_path):
    target = tmp_path / "model[1].crf"
    environment = {**os.environ, "PYTHONPATH": str(Path(fastcrf.__file__).parents[1])}
    command = [sys.executable, "-c", WRITER, str(target)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        (part,) = tmp_path.glob(".model*.part")
        replace_file(target, b"first")
        assert part.exists()  # its writer lives
        writer.send_signal(signal.SIGKILL)
    replace_file(tmp_path / "other", b"another name")
    assert part.exists()
    replace_file(target, b"second")
    assert not part.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model[1].crf", "other"]
    assert target.read_bytes() == b"second"
