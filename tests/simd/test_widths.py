"""Rows follow the code that Numba generates."""

from __future__ import annotations

import subprocess
import sys


def test_a_restriction_of_code_generation_restricts_the_width_of_rows(monkeypatch):
    ask = (
        "from fastcrf.simd.widths import HAS_MANY_REGISTERS, choose_width; print(HAS_MANY_REGISTERS, choose_width(10))"
    )
    told = {}
    for features in ("+avx2,+fma", "+avx2,+fma,+avx512f"):
        monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
        told[features] = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert list(told.values()) == ["False (16, 16)\n", "True (12, 12)\n"]
