"""Imports go down the layers, never up and never sideways (see CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fastcrf

PACKAGE = Path(fastcrf.__file__).parent

LAYERS = {
    "source_closure": -3,
    "notice": -3,
    "kernel_cache": -3,
    "code_library": -3,
    "machine_code": -2,
    "rare_code": -1,
    "types": 0,
    "kernel": 0,
    "memory_room": 0,
    "mapped": 0,
    "vectors": 1,
    "generic": 0.5,  # above kernel.py, below chain/, whose kernels have a meaning for each order
    "memory": 0,
    "proximal": 1,
    "scaling_root": 1,
    "orthant": 1,
    "metrics": 0,
    "checks": 0,
    "data": 1,
    "chain": 1,
    "objective": 2,
    "interchange": 2,
    "draws": 3,
    "model": 3,
    "solvers": 4,
    "training": 5,
    "cluster": 6,
    "sklearn_manners": 6,
    "trained_estimator": 7,
    "estimator": 8,
    "displays": 8,
    "scorers": 8,
    "regularization": 9,
    "lab": 9,
    "compat": 9,
    "cli": 10,
    "__main__": 11,
}
ROOMS_OF_DATA = {
    "errors": 0,
    "encoding": 1,
    "files": 2,
    "templates": 3,
    "model_file": 4,
    "corpora": 4,
    "corpus_file": 5,
}
SKLEARN_FREE = (
    "generic",
    "memory",
    "memory_room",
    "mapped",
    "kernel_cache",
    "checks",
    "source_closure",
    "machine_code",
    "code_library",
    "rare_code",
    "types",
    "kernel",
    "notice",
    "vectors",
    "proximal",
    "scaling_root",
    "orthant",
    "data",
    "chain",
    "interchange",
    "model",
    "objective",
    "draws",
    "solvers",
    "training",
    "cluster",
)
POLICIES = "policies"  # solvers that choose among the families: they stand above them, and no family imports them
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part_of(path: Path) -> str:
    """The top-level part a file belongs to: fastcrf/chain/viterbi.py -> chain."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(path: Path) -> list[str]:
    """Absolute names of what a file imports, at the top or inside functions: `from a.b import c` -> a.b.c."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} imports relatively"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def imports_at_the_top(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [
        alias.name if isinstance(node, ast.Import) else str(node.module) for node in tree.body for alias in node.names
    ]


def test_every_part_has_a_layer():
    assert {part_of(path) for path in SOURCES} <= set(LAYERS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only(path):
    here = part_of(path)
    for name in imported_modules(path):
        if name.split(".")[0] != "fastcrf" or name == "fastcrf.__version__":
            continue
        there = name.split(".")[1]
        assert there in LAYERS, f"{here} imports {name} from the package itself"
        assert there == here or LAYERS[there] < LAYERS[here], f"{here} (layer {LAYERS[here]}) imports {name}"


def family_of(module: str) -> str | None:
    """The family that a module belongs to: fastcrf.solvers.batch.lbfgs -> batch."""
    _, part, name, *_ = (*module.split("."), "", "")
    return name if part == "solvers" and name and (PACKAGE / part / name).is_dir() else None


@pytest.mark.parametrize("path", [p for p in SOURCES if part_of(p) == "solvers"], ids=lambda path: path.stem)
def test_families_of_solvers_never_import_each_other(path):
    here = family_of("fastcrf." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    for name in filter(lambda name: name.startswith("fastcrf."), imported_modules(path)):
        if here == POLICIES and family_of(name) != POLICIES:
            continue
        assert family_of(name) in (None, here), f"{path.stem} of the family {here} imports {name}"


def test_policies_may_import_families_and_do():
    imported = {
        family_of(name) for path in (PACKAGE / "solvers" / POLICIES).glob("*.py") for name in imported_modules(path)
    }
    assert "batch" in imported


@pytest.mark.parametrize("path", sorted((PACKAGE / "data").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_rooms_of_data_know_those_below_only(path):
    here, *_ = path.relative_to(PACKAGE / "data").with_suffix("").parts
    for name in imported_modules(path):
        if name.startswith("fastcrf.data."):
            there = name.split(".")[2]
            assert there == here or ROOMS_OF_DATA[there] < ROOMS_OF_DATA[here], f"data/{here} imports {name}"


@pytest.mark.parametrize("path", [p for p in SOURCES if part_of(p) in SKLEARN_FREE], ids=lambda p: p.stem)
def test_scikit_learn_is_imported_by_the_estimator_and_the_scorers_only(path):
    assert not [name for name in imports_at_the_top(path) if name.split(".")[0] in ("sklearn", "typer")]


def test_metrics_are_a_leaf():
    assert not [name for name in imported_modules(PACKAGE / "metrics.py") if name.startswith("fastcrf")]
