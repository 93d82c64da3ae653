"""Ctrl-C while a kernel is being compiled is a KeyboardInterrupt, and the kernel can be compiled afterwards."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of a shell ignores it
from numba.core import event
from probe import first, seldom

class Press(event.Listener):
    name, pressed = "{name}", 0

    def on_start(self, event):
        if event.data["dispatcher"].py_func.__name__ == self.name and not self.pressed:
            self.pressed = 1
            signal.raise_signal(signal.SIGINT)

    def on_end(self, event):
        pass

press = Press()
event.register("numba:compile", press)
try:
    print(first({argument}))
except BaseException as error:
    print(type(error).__name__, press.pressed)
print(first(1.0), first(2.0))
"""
KERNELS = """
from fastcrf.jit.kernel import NUMBER, lazy_kernel, noalloc_kernel, outlined_kernel

@lazy_kernel(NUMBER)
def seldom(x):
    return x + 0.5

@outlined_kernel
def second(x):
    return seldom(x) if x > 1.0 else x

@noalloc_kernel
def first(x):
    return 2.0 * second(x)
"""
FIT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from fastcrf import CRF
from fastcrf.jit import compile_notice
compile_notice.compilation_begins = lambda: signal.raise_signal(signal.SIGINT)
try:
    CRF(n_jobs=1).fit([[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]])
except BaseException as error:
    print(type(error).__name__)
"""


@pytest.fixture
def run(tmp_path):
    """Runs code in a process with an empty cache; returns its output and its errors."""
    (tmp_path / "probe.py").write_text(KERNELS)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines(), done.stderr

    return run


@pytest.mark.parametrize(
    ("name", "argument"), [("first", "1.0"), ("second", "1.0"), ("seldom", "2.0")], ids=["called", "callee", "lazy"]
)
def test_ctrl_c_while_a_kernel_is_compiled_is_a_keyboard_interrupt_and_leaves_it_usable(run, name, argument):
    assert run(PRESS.format(name=name, argument=argument)) == (["KeyboardInterrupt 1", "2.0 5.0"], "")


def test_ctrl_c_while_a_fit_compiles_is_a_keyboard_interrupt(run):
    printed, _ = run(FIT)
    assert printed == ["KeyboardInterrupt"]
