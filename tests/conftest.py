"""Checks of the whole session: after the suite every kernel has been compiled for one signature a lane width.

A second signature (an int where the others pass a float, a read-only or strided array, a literal where the others pass
a variable) means that some user waits for the compiler again. Only the type of `lanes`, the lane width, may differ, the
type of data that generic functions have a meaning for, and the precision of stored gradients (signatures.py).

Hypothesis tries the same examples in every run, so that the same code has the same verdict; HYPOTHESIS_PROFILE=explore
tries new ones. It has no time limits: the first example compiles.

With `-n auto` the suite runs in as many processes as there are cores. Tests that need the same kernels go to the same
process, so that nothing is compiled twice: those of a file or, of the contract, those of a solver.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict

import hypothesis
import pytest

from fastcrf.solvers import registry
from signatures import forms, kinds

TIMELESS = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("same", derandomize=True, **TIMELESS)
hypothesis.settings.register_profile("explore", derandomize=False, **TIMELESS)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

FORGIVEN = defaultdict(set)  # {kernel: signatures that a test caused on purpose}
COMPILED = defaultdict(set)  # {kernel, or type of data: its signatures}, of all processes of the session


def compiled_kernels():
    """Every Numba function of the package that has been loaded, by qualified name."""
    kernels = {}
    for name, module in list(sys.modules.items()):
        if module is not None and (name == "fastcrf" or name.startswith("fastcrf.")):
            for thing in vars(module).values():
                if hasattr(thing, "nopython_signatures") and hasattr(thing, "py_func"):
                    kernels[f"{thing.py_func.__module__}.{thing.py_func.__qualname__}"] = thing
    return kernels


def signatures_of(kernel):
    """Of both faces: what kernels have called, and what Python has called."""
    return set(kernel.signatures) | set(kernel.for_python.signatures if "for_python" in vars(kernel) else ())


def signatures_that_count():
    """{kernel, or type of data: its signatures}, of this process."""
    found = defaultdict(set)
    for name, kernel in compiled_kernels().items():
        for signature in signatures_of(kernel) - FORGIVEN[name]:
            found[name].add(kinds(signature))
            for data, form in forms(signature):
                found[f"{data.__module__}.{data.__qualname__}"].add(form)
    return found


def add_to_compiled(found):
    for name, signatures in found.items():
        COMPILED[name].update(signatures)


def kernels_with_several_signatures():
    return {name: sorted(signatures) for name, signatures in COMPILED.items() if len(signatures) > 1}


@pytest.fixture
def strange_arrays_on_purpose():
    """For a test that hands kernels read-only arrays, say: what is compiled for it does not count."""
    before = {name: signatures_of(kernel) for name, kernel in compiled_kernels().items()}
    yield
    for name, kernel in compiled_kernels().items():
        FORGIVEN[name] |= signatures_of(kernel) - before.get(name, set())


def kernels_in_common(nodeid):
    """The name of the group that a test belongs to: its file or, in the contract, the solver that it is about."""
    file, _, test = nodeid.partition("::")
    if file.endswith("test_contract.py"):
        named = [name for name in registry.names() if f"[{name}" in test]
        return max(named, key=len, default=file)
    return file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Groups in the order of the files: by their size, long files of few tests would come last, on one core.

    (Marks of groups would be too late: the processes name their tests before this file can mark them.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByKernels(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return kernels_in_common(nodeid)

    config.option.loadscopereorder = False
    return ByKernels(config, log)


def pytest_sessionfinish(session, exitstatus):
    add_to_compiled(signatures_that_count())
    if hasattr(session.config, "workeroutput"):  # one of several processes: the first one has the last word
        session.config.workeroutput["compiled"] = {name: sorted(found) for name, found in COMPILED.items()}
    elif exitstatus == pytest.ExitCode.OK and kernels_with_several_signatures():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    add_to_compiled(getattr(node, "workeroutput", {}).get("compiled", {}))


def pytest_terminal_summary(terminalreporter):
    for name, signatures in kernels_with_several_signatures().items():
        terminalreporter.section(f"{name} was compiled for several signatures")
        for signature in signatures:
            terminalreporter.line(signature)
