"""Find the source files of the package that a file depends on, and hash them: the key of compiled code and of lab
records.

A file depends on itself and on every module of the package that it imports, at the top or within functions, and on
their imports. Imports are found by a text search, because parsing would take longer than reading the sources. An import
in a docstring also counts, which does no harm.

Files are strings here, not Paths, because every process resolves some hundreds of them while it starts.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # fastcrf: this file is in fastcrf/jit
IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
COMMENT = re.compile(r"#[^\n]*")


def closure_hash(files: Iterable[str], package: str = PACKAGE) -> str:
    """Return the hash of these files and all their dependencies, with their names within the package."""
    total = hashlib.sha256()
    for file in sorted(set().union(*(closure(file, package) for file in files))):
        total.update(file.removeprefix(package).encode() if file.startswith(package) else b"outside")
        total.update(b"\0" + source_hash(file))
    return total.hexdigest()[:20]


@cache
def closure(file: str, package: str = PACKAGE) -> frozenset[str]:
    """Return the file itself and the files of the package that it imports, directly or indirectly."""
    found, waiting = {file}, [file]
    while waiting:
        new = imported_files(waiting.pop(), package) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def imported_files(file: str, package: str = PACKAGE) -> frozenset[str]:
    """Return the files of the package that a file names in its imports."""
    found = set()
    for module, names, modules in IMPORT.findall(source(file)):
        listed = COMMENT.sub("", (names or modules).decode(errors="replace")).strip("() \t\r\n").split(",")
        words = [each.split()[0] for each in listed if each.strip()]  # without `as` and what follows
        found |= {file_of_name(f"{module.decode()}.{word}" if module else word, package) for word in words}
    return frozenset(found - {""})


@cache
def file_of_name(name: str, package: str = PACKAGE) -> str:
    """Return the file of a dotted name: a module, or the module that defines the name; "" if it is not of the
    package.
    """
    if name.split(".")[0] != os.path.basename(package):
        return ""
    modules = modules_of(package)
    while name not in modules:
        name = name.rpartition(".")[0]
    return modules[name]


@cache
def modules_of(package: str) -> dict[str, str]:
    """Return the file of every module of the package."""
    files, before = {}, len(os.path.dirname(package)) + 1
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                files[path[before:-3].replace(os.sep, ".").removesuffix(".__init__")] = path
    return files


@cache
def source(file: str) -> bytes:
    """Return the content of a file, or nothing if there is no file (code typed at a prompt)."""
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


@cache
def source_hash(file: str) -> bytes:
    return hashlib.sha256(source(file)).digest()
