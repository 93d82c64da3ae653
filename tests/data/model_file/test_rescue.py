"""A model that cannot be written where it was asked for is not lost."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from fastcrf.data.model_file import rescue
from fastcrf.data.model_file.container import write
from fastcrf.data.model_file.rescue import check_space


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that is tried first."""
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(rescue.tempfile, "gettempdir", lambda: str(kept))
    return kept


def test_a_model_goes_to_another_folder_if_its_own_cannot_be_written(tmp_path, folder):
    target = tmp_path / "removed" / "model.crf"
    with pytest.raises(OSError, match="No such file or directory") as caught:
        write(target, b"content")
    (kept,) = folder.iterdir()
    assert kept.read_bytes() == b"content"
    assert kept.name.endswith("-model.crf")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.strerror == (
        f"Cannot write {target}: No such file or directory. The model is saved in {kept} instead; move it to where you "
        "want it."
    )


def test_a_folder_that_is_full_too_is_left_clean_and_the_next_is_tried(tmp_path, folder, monkeypatch):
    working = tmp_path / "working"
    working.mkdir()
    monkeypatch.chdir(working)
    faults = iter([OSError(errno.ENOSPC, "No space left on device")])

    def fsync(_):
        for fault in faults:
            raise fault

    monkeypatch.setattr(rescue.os, "fsync", fsync)
    with pytest.raises(OSError, match="is saved in"):
        write(tmp_path / "removed" / "model.crf", b"content")
    assert os.listdir(folder) == []
    assert [path.read_bytes() for path in working.iterdir()] == [b"content"]


def test_where_nothing_can_be_written_the_fault_itself_is_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(rescue, "folders", lambda: iter([str(tmp_path / "nowhere")]))
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "removed" / "model.crf", b"content")
    assert caught.value.filename == str(tmp_path / "removed" / "model.crf")


def test_too_little_space_is_an_error_that_names_both_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(rescue.shutil, "disk_usage", lambda _: SimpleNamespace(free=11_000_000))
    check_space(tmp_path / "model.crf", 900_000)
    with pytest.raises(OSError, match="takes at least 12 MB") as caught:
        check_space(tmp_path / "model.crf", 1_000_000)
    assert caught.value.errno == errno.ENOSPC
