"""The progress of reading: lines at intervals without a terminal, and a bar that leaves room for a long path."""

from __future__ import annotations

import pytest

from fastcrf.cli.reading_bar import INTERVAL, LONGEST_NAME, SOON, Bar, shortened


@pytest.fixture
def clock():
    """A clock that its caller sets."""

    class Clock:
        now = 100.0

        def __call__(self):
            return self.now

    return Clock()


def test_without_a_terminal_a_line_comes_after_each_interval(capsys, clock):
    bar = Bar("train.txt", quiet=False, clock=clock)
    for passed, share in ((0.0, 0.1), (INTERVAL, 0.25), (INTERVAL + 1.0, 0.3), (2.0 * INTERVAL, None)):
        clock.now = 100.0 + passed
        bar(share)
    bar.close()
    assert capsys.readouterr().err == "reading train.txt: 25%\nreading train.txt\n"


def test_a_quiet_command_prints_no_lines(capsys, clock):
    bar = Bar("train.txt", quiet=True, clock=clock)
    clock.now += 2.0 * INTERVAL
    bar(0.5)
    assert capsys.readouterr().err == ""


def test_a_long_path_leaves_space_for_the_bar(capsys, monkeypatch, clock):
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes rich take any output for a terminal
    monkeypatch.setenv("COLUMNS", "80")
    bar = Bar("/a/very/long/path" * 20 + "/train.txt", quiet=False, clock=clock)
    clock.now += SOON
    bar(0.5)
    bar.close()
    shown = capsys.readouterr().err
    assert "/train.txt" in shown
    assert "50%" in shown
    assert shown.count("\n") <= 2


def test_what_is_read_soon_shows_no_bar_and_does_not_load_rich(capsys, monkeypatch, clock):
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = Bar("-", quiet=False, clock=clock)
    clock.now += 0.9 * SOON
    bar(None)
    assert bar.shown is None
    assert capsys.readouterr().err == ""


def test_names_are_shortened_at_their_beginning():
    assert shortened("train.txt") == "train.txt"
    assert shortened("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    assert shortened("folder/" * 20 + "train.txt").endswith("folder/train.txt")
    assert len(shortened("folder/" * 20)) == LONGEST_NAME
