"""Tagging with .crfsuite models: fastcrf beside CRFsuite, from the same file and in one run.

    python benchmarks/crfsuite_models.py [--data DIR] [--iterations 30]

CRFsuite trains a chunker on CoNLL-2000; its file is opened by both. Times are the best of several, of one sentence (of
the usual length) and of the 2,012 of the test set, given as items (lists of strings); labels are compared, and the file
is written back and compared. For each model that an installed package ships: is it the same when written back?
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpora
import peer
import pycrfsuite

import fastcrf

SHIPPED = ("usaddress", "probablepeople", "pyvi")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--iterations", type=int, default=30, help="of CRFsuite's training")
    arguments = parser.parse_args()
    for path in shipped_models():
        data = path.read_bytes()
        same = fastcrf.Model.from_bytes(data).to_bytes("crfsuite") == data
        print(f"{path.name}: {len(data):,} bytes, written back {'the same' if same else 'DIFFERENT'}")
    folder = corpora.data_folder(arguments.data)
    with tempfile.TemporaryDirectory() as models:
        compare(folder, str(Path(models) / "chunker.crfsuite"), arguments.iterations)


def shipped_models() -> list[Path]:
    """The .crfsuite files of the packages that are installed."""
    found = [importlib.util.find_spec(name) for name in SHIPPED]
    folders = [Path(folder) for spec in found if spec for folder in spec.submodule_search_locations or ()]
    return sorted(path for folder in folders for path in folder.rglob("*.crfsuite"))


def compare(folder: Path, path: str, iterations: int) -> None:
    """Train with CRFsuite, tag with both."""
    peer.train(*corpora.load(folder, "conll2000"), path, max_iterations=iterations)
    X, _ = corpora.load(folder, "conll2000", "test")
    seconds, model = timed(lambda: fastcrf.load(path))
    tagger = pycrfsuite.Tagger()
    opening, _ = timed(lambda: tagger.open(path))
    data = Path(path).read_bytes()
    same = model.to_bytes("crfsuite") == data
    print(f"CoNLL-2000: {len(data):,} bytes, {len(model.attributes):,} attributes, "
          f"written back {'the same' if same else 'DIFFERENT'}")  # fmt: skip
    print(f"opened in     {seconds * 1e3:10.1f} ms    CRFsuite {opening * 1e3:10.1f} ms")
    one = sorted(X, key=len)[len(X) // 2]
    model.predict(X)  # compiled code is loaded
    ours, theirs = best(lambda: model.predict_single(one), 300), best(lambda: tagger.tag(one), 300)
    print(f"one sentence  {ours * 1e6:10.1f} us    CRFsuite {theirs * 1e6:10.1f} us    ({len(one)} tokens)")
    ours, theirs = best(lambda: model.predict(X), 5), best(lambda: [tagger.tag(sequence) for sequence in X], 5)
    print(f"{len(X):,} of them {ours * 1e3:10.1f} ms    CRFsuite {theirs * 1e3:10.1f} ms")
    different = sum(a != tagger.tag(sequence) for a, sequence in zip(model.predict(X), X, strict=True))
    print(f"sentences with other labels: {different}")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def best(work: Callable[[], Any], repeat: int) -> float:
    return min(timed(work)[0] for _ in range(repeat))


if __name__ == "__main__":
    main()
