"""The corpora of the literature, in the style of scikit-learn's loaders: `load_conll2000()`, `load_ocr_letters()` ...

Each set is a folder of `data_home` with one gzipped column file per part, such as ``conll2000/train.txt.gz``: one token
a line, a blank line between sequences. `data_home` is the argument, or what FASTCRF_DATA says, or ``~/fastcrf_data``.
Most sets may not be passed on, so fastcrf ships none of them. CoNLL-2000 and the OCR letters have a public address, and
are downloaded from it when they are not there; the others must be put there, in exactly the text that the checksums
know.

    corpus = load_conll2000(subset="train")
    corpus.data[0]       the columns of each token of a sentence: [["Confidence", "NN"], ...]
    corpus.target[0]     its labels: ["B-NP", ...]
    X, y = load_conll2000(items=True, return_X_y=True)       attributes instead of columns, ready for `CRF.fit`
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fastcrf.data.datasets.downloads import check_text, fetch_text, read_text
from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.datasets.known_sets import KNOWN_SETS, ColumnRows, KnownSet, Part
from fastcrf.data.files.conll import sentences
from fastcrf.exceptions import DataError


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the corpora: the argument, or FASTCRF_DATA, or ~/fastcrf_data."""
    return Path(data_home or os.environ.get("FASTCRF_DATA") or "~/fastcrf_data").expanduser()


def load(
    name: str,
    *,
    subset: str = "train",
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    items: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load a set of `KNOWN_SETS` by its name. The loaders below are this function for one name.

    subset: a part of the set, or "all"; items: attributes by the set's own feature set in place of columns;
    return_X_y: (data, target) instead of a Bunch, which also has `feature_set`, `filenames` and `DESCR`.
    """
    if name not in KNOWN_SETS:
        raise DataError(f"There is no set {name!r}; the sets are {', '.join(KNOWN_SETS)}.")
    known_set = KNOWN_SETS[name]
    if subset != "all" and subset not in known_set.parts:
        raise DataError(f"{name} has no subset {subset!r}; its subsets are {', '.join((*known_set.parts, 'all'))}.")
    parts = known_set.parts.values() if subset == "all" else [known_set.parts[subset]]
    paths = [ensure(name, known_set, part, get_data_home(data_home), download_if_missing) for part in parts]
    data: list[Any] = []
    target: list[list[str]] = []
    for part, path in zip(parts, paths, strict=True):
        for rows, labels in read_part(known_set, part, path):
            data.append(FEATURE_SETS[known_set.feature_set](rows) if items else rows)
            target.append(labels)
    if return_X_y:
        return data, target
    from sklearn.utils import Bunch  # imported here: tagging does not need scikit-learn

    files = [os.fspath(path) for path in paths]
    return Bunch(data=data, target=target, feature_set=known_set.feature_set, filenames=files, DESCR=known_set.origin)


def ensure(name: str, known_set: KnownSet, part: Part, home: Path, download_if_missing: bool) -> Path:
    """Return the path of a part's file; download it if it is missing and downloads are allowed."""
    path = home / name / f"{part.file}.txt.gz"
    if path.is_file():
        return path
    if part.url is None:
        raise DataError(
            f"{name} is not in {home}: put {name}/{path.name} there, or set FASTCRF_DATA to the folder that "
            f"has it; there is no public address to download it from. {known_set.origin}"
        )
    if not download_if_missing:
        raise DataError(f"{name} is not in {home}; set FASTCRF_DATA, or allow the download from {part.url}.")
    fetch_text(part.url, path, part.sha256, known_set.convert)
    return path


def read_part(known_set: KnownSet, part: Part, path: Path) -> Iterator[tuple[ColumnRows, list[str]]]:
    """Read columns and labels of each sentence of a part, after a check of its text."""
    text, name = read_text(path), os.fspath(path)
    check_text(text, part.sha256, name)
    for sentence in sentences(text.decode("utf-8").split("\n"), name):
        if part.belongs(sentence.rows):
            yield [row[known_set.inputs] for row in sentence.rows], [row[known_set.label] for row in sentence.rows]


load_conll2000 = partial(load, "conll2000")
load_ocr_letters = partial(load, "ocr-letters")
load_conll2002_ned = partial(load, "conll2002-ned")
load_conll2002_esp = partial(load, "conll2002-esp")
load_jnlpba = partial(load, "jnlpba")
load_treebank_sample = partial(load, "treebank-sample")
load_ud_ewt_xpos = partial(load, "ud-ewt-xpos")
load_brown_base = partial(load, "brown-base")
load_gutenberg_seg = partial(load, "gutenberg-seg")
load_usaddress = partial(load, "usaddress", subset="labeled")
