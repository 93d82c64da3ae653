"""Making our modules answer to the original names: a finder that Python asks before it looks for installed packages."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from fastcrf.compat.limits import Current, Limits

ORIGINALS = ("pycrfsuite", "sklearn_crfsuite")
HOME = "fastcrf.compat."


class Alias(Loader):
    """The finder that imports a module of fastcrf by another name."""

    def __init__(self, ours: str) -> None:
        self.ours = ours

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self.ours)  # one module under two names, not a copy of it

    def get_code(self, fullname: str) -> None:
        """Return no code: `python -m` asks for it, and there is nothing to run."""
        return None


class Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ORIGINALS:
            return None
        ours = find_spec(HOME + fullname)
        if ours is None:
            raise ModuleNotFoundError(f"fastcrf has no stand-in for the module {fullname!r}.", name=fullname)
        return ModuleSpec(fullname, Alias(HOME + fullname), is_package=ours.submodule_search_locations is not None)


FINDER = Finder()


def install(*, max_segments: int | Mapping[str, int] | None = None, unless: Collection[str] = ()) -> None:
    """Make `import pycrfsuite` and `import sklearn_crfsuite` import fastcrf's modules.

    A second call only changes the limits.

    Parameters
    ----------
    max_segments : int or mapping, default=None
        The most segments of each type that `Tagger.tag` predicts, or of some types by name. With 1, usaddress raises no
        RepeatedLabelError.
    unless : collection of str, default=()
        Sequences whose most probable labels include one of these have no limit, such as "IntersectionSeparator" of
        usaddress, after which street names may come again.
    """
    for name in ORIGINALS:
        loaded = sys.modules.get(name)
        if loaded is not None and not loaded.__name__.startswith(HOME):
            raise RuntimeError(
                f"{name} has been imported already, so that parts of the program hold the original; call "
                "fastcrf.compat.install() before that, or run the program by python -m fastcrf.compat."
            )
    Current.limits = Limits(max_segments, unless)
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)


def uninstall() -> None:
    """Give the names back. Whoever holds a module of ours keeps it."""
    Current.limits = Limits()
    if FINDER in sys.meta_path:
        sys.meta_path.remove(FINDER)
    for name in [name for name in sys.modules if name.partition(".")[0] in ORIGINALS]:
        if sys.modules[name].__name__.startswith(HOME):
            del sys.modules[name]
