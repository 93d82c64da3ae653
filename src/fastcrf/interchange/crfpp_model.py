"""Text models of CRF++, which `crf_learn -t` writes.

    version: 100 | cost-factor: 1 | maxid: 483 | xsize: 2
    (blank) labels (blank) templates (blank) "id name" of each feature (blank) weights, maxid of them

The weight of feature U with label k is at id + k, that of B with the labels j and k at id + j K + k. Weights are
multiplied by the cost factor.
"""

from __future__ import annotations

import re

import numpy as np

from fastcrf.core.types import Floats, Longs
from fastcrf.data.model_file.content import ModelContent
from fastcrf.data.templates.dialects import TemplateFile, parse_template
from fastcrf.exceptions import DataError, ModelFileError
from fastcrf.interchange.named_weights import NamedWeights, with_template

FEATURE = re.compile(r"([0-9]{1,18}) (.+)", re.DOTALL)
NUMBER = re.compile(r"[0-9.]{1,18}")


def read_crfpp(data: bytes) -> ModelContent:
    """Read the model in the content of a text model."""
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").removesuffix("\n").split("\n")
    header, labels, templates, features, weights = sections(lines)
    options = dict(line.split(": ", 1) for line in header if ": " in line)
    factor, max_id = number(options, "cost-factor"), int(number(options, "maxid"))
    n_columns = int(number(options, "xsize"))
    require(len(set(labels)) == len(labels) > 0, "no labels, or one twice")
    template = read_template(templates)
    names, firsts = read_features(features, len(labels), max_id)
    values = factor * read_weights(weights, max_id)
    model = with_template(named_weights(labels, names, firsts, values), template)
    return model._replace(input={"kind": "template", "n_columns": n_columns})


def sections(lines: list[str]) -> list[list[str]]:
    """Return the five parts of the file; blank lines stand between them."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if line or len(parts) == 5:
            parts[-1].append(line)
        else:
            parts.append([])
    require(len(parts) == 5, f"{len(parts)} parts instead of header, labels, templates, features and weights")
    return parts


def number(options: dict[str, str], name: str) -> float:
    text = options.get(name, "")
    require(NUMBER.fullmatch(text) is not None and text.count(".") < 2, f"no number {name!r} in its header")
    return float(text)


def read_template(lines: list[str]) -> TemplateFile:
    try:
        return parse_template("\n".join(lines), "crfpp", "template of the model")
    except DataError as error:
        raise ModelFileError(f"this CRF++ model cannot be converted: {error}") from None


def read_features(lines: list[str], n_labels: int, max_id: int) -> tuple[list[str], Longs]:
    """Return the names of the features, and where their weights begin."""
    names, firsts = [], []
    for line in lines:
        match = FEATURE.fullmatch(line)
        if match is None or match[2][0] not in "UB":
            raise ModelFileError(f"the CRF++ model is damaged: {line[:50]!r} is not a feature")
        n = n_labels if match[2][0] == "U" else n_labels**2
        require(int(match[1]) + n <= max_id, f"weights of the feature {match[2][:50]!r} beyond the last")
        firsts.append(int(match[1]))
        names.append(match[2])
    require(len(set(names)) == len(names), "the same feature twice")
    return names, np.array(firsts, np.int64)


def read_weights(lines: list[str], max_id: int) -> Floats:
    try:
        weights = np.array(lines, np.float64)
    except ValueError as error:
        raise ModelFileError(f"the CRF++ model is damaged: a weight is not a number ({error})") from None
    require(len(weights) == max_id, f"{len(weights)} weights and says that it has {max_id}")
    require(bool(np.isfinite(weights).all()), "a weight that is not finite")
    return weights


def named_weights(labels: list[str], names: list[str], firsts: Longs, values: Floats) -> NamedWeights:
    n, transitions = len(labels), np.zeros((len(labels), len(labels)))
    is_state = np.array([name[0] == "U" for name in names], np.bool_)
    for first in firsts[~is_state].tolist():
        transitions += values[first : first + n * n].reshape(n, n)
    rows = values[firsts[is_state][:, None] + np.arange(n)]
    owners, targets = np.nonzero(rows)
    unigrams = [name for name in names if name[0] == "U"]
    return NamedWeights(labels, unigrams, owners, targets, rows[owners, targets], transitions)


def require(holds: bool, fault: str) -> None:
    if not holds:
        raise ModelFileError(f"the CRF++ model is damaged: it has {fault}")
