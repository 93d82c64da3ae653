"""Imports go down the layers, never up and never sideways (see CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fastcrf

PACKAGE = Path(fastcrf.__file__).parent

LAYERS = {
    "types": 0,
    "notice": -1,
    "kernel": 0,
    "vectors": 1,
    "metrics": 0,
    "data": 1,
    "chain": 1,
    "objective": 2,
    "parts": 2,
    "epochs": 3,
    "interchange": 2,
    "model": 3,
    "solvers": 4,
    "training": 5,
    "sklearn_manners": 6,
    "estimator": 7,
    "displays": 7,
    "scorers": 7,
    "lab": 8,
    "compat": 8,
    "cli": 9,
    "__main__": 10,
}
SKLEARN_FREE = (
    "types",
    "kernel",
    "notice",
    "vectors",
    "data",
    "chain",
    "interchange",
    "model",
    "objective",
    "parts",
    "epochs",
    "solvers",
    "training",
)
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


@pytest.mark.parametrize("path", [p for p in SOURCES if part_of(p) in SKLEARN_FREE], ids=lambda p: p.stem)
def test_scikit_learn_is_imported_by_the_estimator_and_the_scorers_only(path):
    assert not [name for name in imports_at_the_top(path) if name.split(".")[0] in ("sklearn", "typer")]


def test_metrics_are_a_leaf():
    assert not [name for name in imported_modules(PACKAGE / "metrics.py") if name.startswith("fastcrf")]
