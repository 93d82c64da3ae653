"""Many files: each has its result, whoever made it; what is finished is not made again."""

from __future__ import annotations

import gzip
import os

import pytest


@pytest.fixture
def files(corpus, tmp_path):
    (tmp_path / "in").mkdir()
    paths = [tmp_path / "in" / f"{i}.txt" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_text("".join(corpus.read_text().splitlines(True)[: 10 + i]))
    zipped = tmp_path / "in" / "3.txt.gz"
    zipped.write_bytes(gzip.compress(b"the D\ndog N\n"))
    return [*paths, zipped]


def test_several_files_are_written_one_behind_another(run, files, model):
    each = [run("tag", path, "-m", model).stdout for path in files]
    assert run("tag", *files, "-m", model).stdout == "".join(each)


@pytest.mark.parametrize("how", [[], ["--n-jobs", 2]], ids=["here", "processes"])
def test_each_file_has_its_result_in_the_folder(run, files, model, tmp_path, how):
    result = run("tag", *files, "-m", model, "--folder", tmp_path / "out", *how)
    assert result.exit_code == 0, result.output
    made = [tmp_path / "out" / f"{i}.txt" for i in range(4)]
    assert result.stderr.split() == [str(path) for path in made]  # in order, whoever was first
    for path, source in zip(made, files, strict=True):
        assert path.read_text() == run("tag", source, "-m", model).stdout


def test_what_is_finished_is_not_made_again_and_what_is_older_than_its_file_is(run, files, model, tmp_path):
    order = ["tag", *files, "-m", model, "--folder", tmp_path / "out"]
    assert run(*order).exit_code == 0
    assert "already exists; add --resume" in run(*order).stderr
    (tmp_path / "out" / "1.txt").unlink()
    os.utime(files[2], ns=(2**62, 2**62))
    made = run(*order, "--resume").stderr.split()
    assert [os.path.basename(path) for path in made] == ["1.txt", "2.txt"]


def test_a_broken_file_is_a_sentence_and_the_others_stay(run, files, model, tmp_path):
    files[1].write_text("the D B\n\na b c d e\n")
    result = run("tag", *files, "-m", model, "--folder", tmp_path / "out")
    assert result.exit_code == 1
    assert "1.txt:3: found 5 columns instead of 3" in result.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["0.txt"]


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_folder_that_holds_the_files_themselves_raises_an_error(run, files, model, resume):
    os.utime(model, ns=(2**62, 2**62))  # the results would be older than the model
    before = [path.read_bytes() for path in files]
    result = run("tag", *files, "-m", model, "--folder", files[0].parent, *resume)
    assert result.exit_code == 1
    assert "is an input of this command and would be overwritten; choose another folder." in result.stderr
    assert [path.read_bytes() for path in files] == before


def test_invalid_combinations_raise_an_error(run, files, model, tmp_path):
    assert "--n-jobs requires --folder DIR." in run("tag", files[0], "-m", model, "--n-jobs", 2).stderr
    assert "remove one of them" in run("tag", files[0], "-m", model, "--folder", tmp_path, "-o", "x").stderr
    assert "has no name" in run("tag", "-", "-m", model, "--folder", tmp_path).stderr
    assert "Several files" in run("tag", files[0], files[0], "-m", model, "--folder", tmp_path / "n").stderr
