"""A file is there whole or not at all, and faults name the file that was asked for."""

from __future__ import annotations

import errno
import os

import pytest

from fastcrf.system import atomic_write
from fastcrf.system.atomic_write import check_replaceable, new_file, replace_file


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_whole_and_names_the_requested_file(tmp_path, monkeypatch, at):
    target = tmp_path / "model.crf"
    target.write_bytes(b"old")
    monkeypatch.setattr(atomic_write.os, at, full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        replace_file(target, b"new")
    assert caught.value.filename == str(target)
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.crf"]


def test_a_folder_that_is_not_there_is_reported_by_the_name_that_was_asked_for(tmp_path):
    target = tmp_path / "nowhere" / "model.crf"
    with pytest.raises(OSError, match="No such file") as caught:
        replace_file(target, b"new")
    assert caught.value.filename == str(target)


def test_a_fault_of_the_caller_stays_the_callers(tmp_path):
    fault = OSError(errno.EIO, "Input/output error", "another file")

    def write_half():
        with new_file(tmp_path / "out") as file:
            file.write(b"half")
            raise fault

    with pytest.raises(OSError, match="another file") as caught:
        write_half()
    assert caught.value is fault
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_replaced_is_reported_before_the_work(tmp_path):
    check_replaceable(tmp_path / "new")
    with pytest.raises(OSError, match="folder, pipe or device"):
        check_replaceable(tmp_path)
    with pytest.raises(FileNotFoundError, match="No such folder"):
        check_replaceable(tmp_path / "nowhere" / "file")
