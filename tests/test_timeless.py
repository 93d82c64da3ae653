"""No test depends on time: a busy machine is slow, and its verdict is the same."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
CLOCKS = re.compile(r"\btimeout=\d|\btime\.(sleep|time|monotonic|perf_counter|process_time)\(|\bdeadline=(?!None\b)")


def test_no_test_reads_a_clock_or_gives_up_after_some_time():
    found = [
        f"{path.relative_to(TESTS)}:{number}"
        for path in sorted(TESTS.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if path != Path(__file__) and CLOCKS.search(line)
    ]
    assert not found


def test_the_pattern_finds_clocks():
    for line in ("run(x, timeout=60)", "time.sleep(1)", "settings(deadline=200)", "began = time.perf_counter()"):
        assert CLOCKS.search(line)
