"""The key of measured rows covers the sources that a run depends on, and no others."""

import shutil
from pathlib import Path

import pytest

import fastcrf
from fastcrf.jit.source_closure import closure, closure_hash
from fastcrf.lab.machine import code_version
from fastcrf.solvers.registry import make, names, solver_class

PACKAGE = Path(fastcrf.__file__).parent


def sources_of(family, name):
    return {Path(file).relative_to(PACKAGE).as_posix() for file in closure(str(PACKAGE / "solvers" / family / name))}


def test_every_solver_has_a_version_of_its_own():
    """Presets share that of their solver: what tells them apart are options, which are part of a row's key."""
    versions = {name: code_version(make(name)) for name in names()}
    assert len(set(versions.values())) == len({solver_class(name) for name in names()})
    assert code_version(make("sag", seed=3)) == versions["sag"]


def test_a_solver_depends_on_its_family_and_the_kernels_but_on_no_other_family():
    star = sources_of("sag", "sag_nus_star.py")
    needed = {"solvers/sag/loop.py", "lazy_vectors/lazy_vector.py", "jit/kernel.py", "simd/vectors.py", "core/types.py"}
    assert needed <= star
    assert not {file for file in star if file.startswith(("solvers/batch", "solvers/quasi_newton", "solvers/sgd"))}
    assert "solvers/sag/svrg/svrg.py" not in star


@pytest.mark.parametrize(("edited", "differs"), [("simd/vectors.py", True), ("solvers/sag/svrg/svrg.py", False)])
def test_an_edit_makes_another_version_of_what_depends_on_it_alone(tmp_path, edited, differs):
    """In copies of the package, because the hash of a file is taken once in a process."""
    hashes = set()
    for name in ("before", "after"):
        copy = tmp_path / name / "fastcrf"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if name == "after":
            (copy / edited).write_text((copy / edited).read_text() + "\n# edited\n")
        hashes.add(closure_hash([str(copy / "solvers" / "sag" / "sag.py")], str(copy)))
    assert (len(hashes) == 2) == differs
