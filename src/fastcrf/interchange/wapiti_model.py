"""Models of Wapiti.

    #mdl#<type>#<weights that are not 0>
    #rdr#<patterns>/<highest column>/<whether u is put before features>    and the patterns
    #qrk#<labels>                                                          and the labels
    #qrk#<observations>                                                    and the observations
    index=weight                                                           in hexadecimal

Strings are netstrings, "5:u:cat,", whose lengths count bytes. The weights of an observation follow each other, for u
and * those of the labels k, then for b and * those of the label pairs at j K + k, in the order of the observations.
"""

from __future__ import annotations

import re

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.data.model_file.content import ModelContent
from fastcrf.data.templates.dialects import parse_template
from fastcrf.exceptions import DataError, ModelFileError
from fastcrf.interchange.named_weights import NamedWeights, with_items, with_template

MODEL = re.compile(rb"#mdl#(?:([0-9]{1,3})#)?([0-9]{1,18})\n")
READER = re.compile(rb"#rdr#([0-9]{1,9})/[0-9]{1,9}(?:/(-?[0-9]{1,3}))?\n")
STRINGS = re.compile(rb"#qrk#([0-9]{1,9})\n")
LENGTH = re.compile(rb"\s*([0-9]{1,9}):")
MAXENT, MEMM, CRF = 0, 1, 2


def read_wapiti(data: bytes) -> ModelContent:
    """Read the model in the content of a Wapiti model."""
    scanner = Scanner(data)
    kind, n_weights = scanner.match(MODEL, "model header")
    check_kind(kind)
    n_patterns, _ = scanner.match(READER, "reader header")
    patterns = scanner.strings(int(n_patterns))
    labels = scanner.strings(int(scanner.match(STRINGS, "labels")[0]))
    names = scanner.strings(int(scanner.match(STRINGS, "observations")[0]))
    require(len(set(labels)) == len(labels) > 0, "no labels, or one twice")
    require(len(set(names)) == len(names), "the same observation twice")
    places, values = scanner.weights(int(n_weights))
    named = named_weights(labels, names, places, values)
    if int(kind) == MAXENT and named.transitions.any():
        raise ModelFileError("the Wapiti model is damaged: it is of type maxent and has weights of label pairs")
    if not patterns:
        return with_items(named)
    try:
        template = parse_template("\n".join(patterns), "wapiti", "pattern of the model")
    except DataError as error:
        raise ModelFileError(f"this Wapiti model cannot be converted: {error}") from None
    return with_template(named, template)


def check_kind(kind: bytes | None) -> None:
    if kind is None:
        raise ModelFileError("this Wapiti model is of an old version that does not say its type; train it again")
    if int(kind) == MEMM:
        raise ModelFileError("this Wapiti model is a MEMM, which is normalized label by label; only CRFs can be read")
    if int(kind) not in (MAXENT, CRF):
        raise ModelFileError(f"this Wapiti model is of type {int(kind)}, which is not known")


class Scanner:
    """Reads the parts of a file one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def match(self, pattern: re.Pattern[bytes], what: str) -> tuple[bytes, ...]:
        found = pattern.match(self.data, self.place)
        if found is None:
            raise ModelFileError(f"the Wapiti model is damaged: it has no {what} where it should be")
        self.place = found.end()
        return found.groups()

    def strings(self, n: int) -> list[str]:
        """Return the next n netstrings, and the line end after them."""
        strings = []
        for _ in range(n):
            end = int(self.match(LENGTH, "length of a string")[0]) + self.place
            require(self.data[end : end + 1] == b",", "a string without an end")
            strings.append(self.data[self.place : end].decode("utf-8", "surrogateescape"))
            self.place = end + 1
        if n:
            self.match(re.compile(rb"\n"), "line end")
        return strings

    def weights(self, n: int) -> tuple[Longs, Floats]:
        """Return the places and values of the weights, n of them."""
        lines = self.data[self.place :].decode("ascii", "replace").split()
        require(len(lines) == n, f"{len(lines)} weights and says that it has {n}")
        try:
            pairs = [line.split("=") for line in lines]
            places = np.array([int(place) for place, _ in pairs], np.int64)
            values = np.array([float.fromhex(value) for _, value in pairs], np.float64)
        except (ValueError, OverflowError) as error:
            raise ModelFileError(f"the Wapiti model is damaged: a weight cannot be read ({error})") from None
        require(bool(np.isfinite(values).all()), "a weight that is not finite")
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
        require(not len(places) or (places[0] >= 0 and bool((np.diff(places) > 0).all())), "a weight twice")
        return places, values


def named_weights(labels: list[str], names: list[str], places: Longs, values: Floats) -> NamedWeights:
    """Return weights by observation and label; those of label pairs must not depend on the data."""
    n = len(labels)
    kinds = np.array([name[:1] for name in names], "U1")
    require(bool(np.isin(kinds, ("u", "b", "*")).all()), "an observation that begins with none of u, b and *")
    n_states = np.where(kinds == "b", 0, n)
    sizes = n_states + np.where(kinds == "u", 0, n * n)
    ends = np.cumsum(sizes)
    require(not len(places) or (len(names) > 0 and bool(places[-1] < ends[-1])), "a weight beyond the last")
    owners = np.searchsorted(ends, places, side="right")
    within = places - (ends - sizes)[owners]
    is_state = within < n_states[owners]
    transitions = np.zeros(n * n)
    for name in np.unique(owners[~is_state]).tolist():
        if len(names[name]) > 1:
            raise ModelFileError(
                f"this Wapiti model cannot be converted: its observation {names[name][:50]!r} goes with pairs of "
                "labels, and weights of label pairs that depend on the data are not there yet"
            )
        mine = ~is_state & (owners == name)
        transitions[within[mine] - n_states[name]] += values[mine]
    states = owners[is_state], within[is_state], values[is_state]
    return NamedWeights(labels, names, *states, transitions.reshape(n, n))


def require(holds: bool, fault: str) -> None:
    if not holds:
        raise ModelFileError(f"the Wapiti model is damaged: it has {fault}")
