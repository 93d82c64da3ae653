from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import threading

import pytest

from fastcrf.cli import output_file
from fastcrf.cli.output_file import whole_output


def write_half(path):
    with whole_output(path) as text:
        text.write("half of it")
        raise ValueError("broken")


def test_a_file_appears_at_the_end_with_usual_permissions(tmp_path):
    target = tmp_path / "out.txt"
    with whole_output(str(target)) as text:
        text.write("ä\n")
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "ä\n"
    (tmp_path / "usual").write_text("")
    assert target.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["out.txt", "usual"]


def test_after_an_error_the_old_file_is_untouched_and_nothing_is_left_over(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(ValueError, match="broken"):
        write_half(str(target))
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_full_disk_is_reported_with_the_name_of_the_output(tmp_path):
    def write(path):
        with whole_output(path) as text:
            text.write("a line\n")
            raise OSError(errno.ENOSPC, "No space left on device")  # as a write does

    for path, name in ((str(tmp_path / "out.txt"), str(tmp_path / "out.txt")), ("-", "standard output")):
        with pytest.raises(OSError, match="No space left") as caught:
            write(path)
        assert caught.value.filename == name
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full, which is a full disk")
@pytest.mark.parametrize("command", ["tag - -m MODEL", "tag - -m MODEL -o /dev/full", "solvers"])
def test_a_full_disk_is_reported_by_each_command(model, command):
    words = [sys.executable, "-m", "fastcrf", *command.replace("MODEL", str(model)).split()]
    with open("/dev/full", "w") as full:
        result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, input="the D\n" * 20_000, text=True)
    name = "/dev/full" if "-o" in words else "standard output"
    assert (result.returncode, result.stderr) == (1, f"fastcrf: No space left on device: {name}\n")


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "out.txt", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with whole_output(str(link)) as text:
        text.write("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("in_memory", [1, 1000])
def test_standard_output_gets_all_or_nothing(capsys, monkeypatch, in_memory):
    monkeypatch.setattr(output_file, "IN_MEMORY", in_memory)
    with pytest.raises(ValueError, match="broken"):
        write_half("-")
    with whole_output("-") as text:
        text.write("ä kept\n")
        text.write("and more\n")
    assert capsys.readouterr().out == "ä kept\nand more\n"


class FewAtOnce(io.BytesIO):
    """An output that takes five bytes at most, as one without a buffer may."""

    def write(self, content):
        return super().write(content[:5])


def test_an_output_that_takes_little_at_once_gets_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(FewAtOnce(), write_through=True))
    with whole_output("-") as text:
        text.write("ä long line, and\nanother\n")
    assert sys.stdout.buffer.getvalue() == "ä long line, and\nanother\n".encode()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    with whole_output(str(pipe)) as text:
        text.write("through\n")
    reader.join()
    assert received == ["through\n"]
    assert pipe.is_fifo()
