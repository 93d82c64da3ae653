"""Imports go down the layers of docs/develop/architecture.md; families of solvers never import each other.

An edge is an import anywhere in a module, one for types included, or a string that names a module (lazy tables,
registries). Each belongs to the module whose text it is.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import fastcrf

PACKAGE = Path(fastcrf.__file__).parent
ARCHITECTURE = PACKAGE.parents[1] / "docs" / "develop/architecture.md"
IMPORTS = ast.Import | ast.ImportFrom
FRONT_DOOR = {"__init__", "__main__", "displays", "exceptions", "features", "metrics", "readers", "scorers", "stopping"}
STRING = re.compile(r"fastcrf(\.\w+)+")
PENDING: set[tuple[str, str]] = set()  # edges that are still to be removed: each must exist


def read_layers() -> dict[str, int]:
    """{package or module: layer}, from the tree in docs/develop/architecture.md, lowest first."""
    tree = re.search(r"^```tree\n(.*?)^```", ARCHITECTURE.read_text(), re.M | re.S)
    assert tree, f"{ARCHITECTURE.name} has no block ```tree"
    layers: dict[str, int] = {}
    above: list[str] = []
    for line in filter(str.strip, tree[1].splitlines()[1:]):
        depth = (len(line) - len(line.lstrip())) // 2 - 1
        listed = re.match(r"\s*((?:\S+(?:/|\.py)\s+)*)", f"{line} ")
        assert listed, line
        for word in listed[1].split():
            name = re.sub(r"/$|\.py$", "", word)
            layers["/".join([*above[:depth], name])] = len(layers)
        above = [*above[:depth], name]
    return layers


LAYERS = read_layers()
MODULES = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


def workspace_of(module: str) -> str:
    """The layer that a module belongs to: itself if the tree lists it, or the nearest package that it lists."""
    while module not in LAYERS and "/" in module:
        module = module.rpartition("/")[0]
    return module


def module_of(dotted: str) -> str | None:
    """fastcrf.a.b.name -> a/b, or a/b/__init__ for a package."""
    top, *parts = dotted.split(".")
    if top != "fastcrf":
        return None
    for cut in range(len(parts), 0, -1):
        name = "/".join(parts[:cut])
        if name in MODULES:
            return name
        if f"{name}/__init__" in MODULES:
            return f"{name}/__init__"
    return "__init__"


def targets(tree: ast.AST, strings: bool = True) -> set[str]:
    """The modules of the package that a piece of code names."""
    found: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {module_of(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {module_of(alias.name) for alias in node.names}
        elif strings and isinstance(node, ast.Constant) and STRING.fullmatch(str(node.value)):
            found.add(module_of(str(node.value)))
    return {each for each in found if each}


def edges() -> dict[str, set[str]]:
    return {name: targets(ast.parse(path.read_text())) - {name} for name, path in MODULES.items()}


EDGES = edges()


def family_of(module: str) -> str | None:
    """The family of a solver's module; the default policy and the registry stand above the families."""
    found = re.match(r"solvers/(?!auto/)(\w+)/", module)
    return found[1] if found else None


def test_every_module_has_a_layer_and_every_layer_exists():
    assert not [name for name in MODULES if workspace_of(name) not in LAYERS and not name.endswith("__init__")]
    for name in LAYERS:
        assert (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file(), f"{name} is not there"


def test_only_the_front_door_is_at_the_top():
    assert {path.stem for path in PACKAGE.glob("*.py")} == FRONT_DOOR


def upward_edges() -> set[tuple[str, str]]:
    return {
        (here, there)
        for here, named in EDGES.items()
        for there in named
        if not here.endswith("__init__")  # a package's own file names what it exports
        and there != "__init__"  # the version
        and LAYERS.get(workspace_of(there), -1) > LAYERS[workspace_of(here)]
    }


def test_imports_go_down_the_layers():
    assert upward_edges() == PENDING


def test_families_of_solvers_never_import_each_other():
    for here, named in EDGES.items():
        for there in named:
            families = {family_of(here), family_of(there)} - {None}
            assert len(families) < 2, f"{here} imports {there}"


def test_no_family_imports_the_default_policy():
    users = {here for here, named in EDGES.items() for there in named if there.startswith("solvers/auto/")}
    assert not {user for user in users if family_of(user)}


def cycles(graph: dict[str, set[str]]) -> set[str]:
    """The nodes that reach themselves."""
    reach = {name: set(named) for name, named in graph.items()}
    changed = True
    while changed:
        changed = False
        for found in reach.values():
            more = set().union(*(reach.get(each, ()) for each in found)) - found
            found |= more
            changed |= bool(more)
    return {name for name, found in reach.items() if name in found}


def test_modules_import_each_other_in_no_circle():
    graph = {here: {there for there in named if "__init__" not in there} for here, named in EDGES.items()}
    assert cycles(graph) == set()


def test_packages_import_each_other_in_no_circle():
    rooms: dict[str, set[str]] = defaultdict(set)
    for here, named in EDGES.items():
        if not here.endswith("__init__"):
            rooms[workspace_of(here)] |= {workspace_of(there) for there in named if not there.endswith("__init__")}
            rooms[workspace_of(here)] -= {workspace_of(here)}
    assert cycles(rooms) == set()


def test_a_circle_is_found():
    """The negative control of the two tests above."""
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c"}


def test_a_package_has_few_modules_and_its_own_file_one_docstring():
    for folder in sorted({path.parent for path in MODULES.values()}):
        modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(modules) <= 15, f"{folder.name} has {len(modules)} modules"
        if folder.name not in ("fastcrf", "model", "solvers", "compat", "pycrfsuite", "sklearn_crfsuite"):
            body = ast.parse((folder / "__init__.py").read_text()).body
            assert [type(each) for each in body] == [ast.Expr], folder


def imported_packages(path: Path, at_the_top: bool) -> set[str]:
    """Other packages that a module imports, anywhere or when it is loaded."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if at_the_top else list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in names}


WITH_SKLEARN = {"scorers", "estimators", "compat/sklearn_crfsuite", "cli", "lab", "displays"}


def test_scikit_learn_and_typer_are_loaded_by_few_modules():
    for name in [name for name in MODULES if not any(map(name.startswith, WITH_SKLEARN))]:
        assert not imported_packages(MODULES[name], at_the_top=True) & {"sklearn", "typer"}, name


def test_numba_is_imported_by_two_packages():
    for name in [name for name in MODULES if not name.startswith(("jit/", "simd/"))]:
        assert "numba" not in imported_packages(MODULES[name], at_the_top=False), name


def test_metrics_are_a_leaf():
    assert EDGES["metrics"] == set()
