"""The kernel decorator: its cache notices edits anywhere, and works or is done without wherever it is installed."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import fastcrf
from fastcrf.jit.kernel import MODE, NUMBER, kernel, lazy_kernel, noalloc_kernel, outlined_kernel, strict_kernel
from fastcrf.system.cache_folder import KEPT_VERSIONS, version_folder

CALLEE = """
from fastcrf.jit.kernel import kernel

@kernel
def change(x):
    return x + 1
"""
CALLER = """
from fastcrf.jit.kernel import kernel
from fastcrf.callee import change

@kernel
def change_twice(x):
    return change(change(x))
"""
LOOP = """
from fastcrf.jit.generic import generic
from fastcrf.jit.kernel import kernel

@generic
def first(pair):
    pass

@kernel
def change_twice(pair):
    return 2 * first(pair)
"""
PAIR = """
from typing import NamedTuple
from fastcrf.callee import change
from fastcrf.loops.caller import first

class Pair(NamedTuple):
    one: int
    other: int

@first.register(Pair)
def first_of_pair(pair):
    return change(pair.one)
"""
RUN = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {imports}
    face = getattr(change_twice, "for_python", change_twice)
    print(change_twice({argument}), sum(face.stats.cache_hits.values()), len(caught))
    for warning in caught:
        print(warning.message)
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package, with two kernels in two files."""
    copy = tmp_path / "site" / "fastcrf"
    shutil.copytree(Path(fastcrf.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "callee.py").write_text(CALLEE)
    (copy / "caller.py").write_text(CALLER)
    return copy


CALL = {"imports": "from fastcrf.caller import change_twice", "argument": "10"}
CALL_GENERIC = {
    "imports": "from fastcrf.loops.caller import change_twice; from fastcrf.data.pair import Pair",
    "argument": "Pair(10, 100)",
}


def run(package, call=CALL, **environment):
    """(result, cache hits, number of warnings) and the warnings' lines of a fresh process."""
    keep = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(**call)],
        env={**keep, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=package.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    numbers, *lines = done.stdout.splitlines()
    return tuple(map(int, numbers.split())), lines


def test_editing_a_callee_in_another_file_changes_its_caller(package, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(package, **cache) == ((12, 0, 0), [])
    assert run(package, **cache) == ((12, 1, 0), [])  # the second process compiles nothing
    (package / "callee.py").write_text(CALLEE.replace("x + 1", "x + 5"))
    assert run(package, **cache) == ((20, 0, 0), [])


def test_without_a_home_on_a_read_only_install_kernels_compile_with_one_warning(package, tmp_path):
    """No folder can be made below a file, whoever asks; root could write to any read-only folder."""
    wall = tmp_path / "wall"
    wall.write_text("a file, not a folder")
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        numbers, lines = run(package, **{name: str(wall / "cache")})
        assert numbers == (12, 0, 1)
        assert lines[0].startswith("fastcrf found no writable cache folder")
    assert not list(package.rglob("*.nbi"))


def test_in_the_plain_mode_each_edit_compiles_anew(package, tmp_path):
    plain = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "FASTCRF_PLAIN_JIT": "1"}
    assert run(package, **plain) == ((12, 0, 0), [])
    assert run(package, **plain) == ((12, 1, 0), [])
    (package / "callee.py").write_text(CALLEE.replace("x + 1", "x + 5"))
    assert run(package, **plain) == ((20, 0, 0), [])


def test_an_edit_elsewhere_costs_nothing(package, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(package, **cache)
    (package / "simd" / "vectors.py").write_text("# not imported by these\n")
    assert run(package, **cache) == ((12, 1, 0), [])


def test_a_standing_kernel_is_found_by_callers_whether_or_not_its_own_code_is_still_there(package, tmp_path):
    """Its name in machine code has a number that differs from process to process; the caller's code knows one."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (package / "callee.py").write_text(
        CALLEE.replace("@kernel", "@outlined_kernel").replace("kernel\n", "outlined_kernel\n", 1)
    )
    assert run(package, **cache) == ((12, 0, 0), [])
    assert run(package, **cache) == ((12, 1, 0), [])
    shutil.rmtree(tmp_path / "cache" / "fastcrf.callee")
    other = {**CALL, "imports": f"import fastcrf.decoding.compiled_decoder; {CALL['imports']}"}
    assert run(package, other, **cache) == ((12, 0, 0), [])
    assert run(package, **cache) == ((12, 1, 0), [])
    (package / "callee.py").write_text(CALLEE)
    assert run(package, **cache) == ((12, 0, 0), [])


@lazy_kernel(NUMBER)
def seldom(x):
    return x + 0.5


@noalloc_kernel
def raise_large_numbers(x):
    return seldom(x) if x > 1.0 else x


tuned_only = pytest.mark.skipif(not MODE.__name__.endswith("tuned"), reason="of the tuned mode")


@tuned_only
def test_a_rare_kernel_is_compiled_when_it_first_runs():
    assert raise_large_numbers(1.0) == 1.0
    assert not seldom.kernel.signatures
    assert raise_large_numbers(2.0) == 2.5
    assert len(seldom.kernel.signatures) == 1
    assert seldom(3.0) == 3.5  # Python calls it like any other


@tuned_only
def test_two_threads_that_want_a_lazy_kernel_make_one_jump(monkeypatch):
    from fastcrf.jit import lazy_kernel as lazy_kernels

    @lazy_kernel(NUMBER)
    def later(x):
        return x + 0.5

    made, wanted, make = [], (numba.types.float64,), lazy_kernels.jump_to
    other = threading.Thread(target=lambda: later.compile(wanted))

    def jump_to(*args):
        made.append(args)
        if len(made) == 1:
            other.start()
            other.join(1.0)  # in vain: it waits until this one is done
        return make(*args)

    monkeypatch.setattr(lazy_kernels, "jump_to", jump_to)
    later.compile(wanted)
    other.join()
    assert len(made) == 1


def test_a_rare_kernel_that_was_edited_is_compiled_again_and_one_that_was_not_is_loaded(package, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    rare = CALLEE.replace("@kernel", "@lazy_kernel(NUMBER)").replace("import kernel", "import NUMBER, lazy_kernel")
    (package / "callee.py").write_text(rare.replace("x + 1", "x + 1.0"))
    (package / "caller.py").write_text(CALLER.replace("change(change(x))", "int(change(change(x)))"))
    assert run(package, **cache) == ((12, 0, 0), [])
    assert run(package, **cache) == ((12, 1, 0), [])
    (package / "callee.py").write_text(rare.replace("x + 1", "x + 5.0"))
    assert run(package, **cache) == ((20, 0, 0), [])


@pytest.fixture
def package_with_generic(package):
    """A loop with a generic function; a type with its meaning in another folder, which the loop does not import."""
    (package / "loops").mkdir()
    (package / "loops" / "__init__.py").write_text("")
    (package / "loops" / "caller.py").write_text(LOOP)
    (package / "data" / "pair.py").write_text(PAIR)
    return package


@pytest.mark.parametrize(
    ("file", "before", "after", "result"),
    [
        ("data/pair.py", "change(pair.one)", "change(pair.one) + 4", 30),
        ("data/pair.py", "one: int\n    other: int", "other: int\n    one: int", 202),  # same types, other places
        ("callee.py", "x + 1", "x + 5", 30),
    ],
)
def test_editing_what_a_generic_function_means_changes_the_loop_that_calls_it(
    package_with_generic, tmp_path, file, before, after, result
):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(package_with_generic, CALL_GENERIC, **cache) == ((22, 0, 0), [])
    assert run(package_with_generic, CALL_GENERIC, **cache) == ((22, 1, 0), [])
    source = package_with_generic / file
    assert before in source.read_text()
    source.write_text(source.read_text().replace(before, after))
    assert run(package_with_generic, CALL_GENERIC, **cache) == ((result, 0, 0), [])


def test_a_type_that_has_moved_does_not_spoil_the_cache(package_with_generic, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(package_with_generic, CALL_GENERIC, **cache)
    (package_with_generic / "data" / "pair.py").rename(package_with_generic / "data" / "couple.py")
    moved = {**CALL_GENERIC, "imports": CALL_GENERIC["imports"].replace("data.pair", "data.couple")}
    assert run(package_with_generic, moved, **cache) == ((22, 0, 0), [])


def test_few_versions_of_a_module_are_kept(tmp_path):
    for n in range(KEPT_VERSIONS + 3):
        folder = version_folder(tmp_path, "module", str(n))
        os.utime(folder, (n, n))
    assert {path.name for path in (tmp_path / "module").iterdir()} == {str(n) for n in range(3, KEPT_VERSIONS + 3)}


@pytest.mark.parametrize("decorator", [kernel, strict_kernel, noalloc_kernel, outlined_kernel])
def test_a_nan_stays_a_nan_and_a_division_by_zero_is_infinite(decorator):
    """Plain fast mathematics would assume that neither exists, and divergence could never be seen."""

    def probe(values):
        total = 0.0
        for value in values:
            total += 1.0 / value
        return total, np.isfinite(total), total == total

    compiled = decorator(probe)
    total, finite, equal = compiled(np.array([1.0, 0.0]))
    assert (total, finite, equal) == (math.inf, False, True)
    total, finite, equal = compiled(np.array([1.0, math.nan]))
    assert (math.isnan(total), finite, equal) == (True, False, False)


class Whole(NamedTuple):
    values: np.ndarray
    n: int


@noalloc_kernel
def borrowed(whole):
    return Whole(whole.values, whole.n + 1)


@noalloc_kernel
def borrow_twice(whole):
    return borrowed(borrowed(whole)).values[0]


@kernel
def count_and_borrow(whole):
    return borrowed(whole).values[0]


@kernel
def counted(whole):
    return Whole(whole.values, whole.n + 1)


@noalloc_kernel
def borrow_counted(whole):
    return counted(whole).values[0]


@tuned_only
def test_arrays_are_not_handed_between_kernels_that_count_references_and_those_that_do_not():
    values = np.ones(1000)
    whole, before = Whole(values, 3), sys.getrefcount(values)
    assert borrow_twice(whole) == 1.0
    assert counted(whole).n == 4
    for wrong in (count_and_borrow, borrow_counted):
        with pytest.raises(numba.TypingError, match="counts references"):
            wrong(whole)
    with pytest.raises(TypeError, match="borrowed returns arrays"):
        borrowed(whole)
    assert sys.getrefcount(values) == before
