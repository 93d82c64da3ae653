"""Raw columns in, labels out: encoding and tagging by template against attributes as Python strings.

    python benchmarks/templates.py [--data DIR] [--json] [--only encode,tag,counts,scale]

Ratios are measured in one run, each side at its best of several. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import corpora
import peer
from speed import best_time, resident, show

import fastcrf
from fastcrf.data.corpus.rare_attributes import without_rare
from fastcrf.data.datasets.feature_sets import chunking
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import load_template, parse_template
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.fit import fit_model
from fastcrf.fitting.plan import make_plan

Figures = dict[str, Any]
Rows = list[list[str]]

WINDOW = range(-2, 3)


def n_gram_lines(column: int, first_number: int, longest: int) -> list[str]:
    """Templates of CRF++ for all n-grams of a column within two tokens."""
    cells = [
        [f"%x[{offset},{column}]" for offset in range(first, first + n)]
        for n in range(1, longest + 1)
        for first in WINDOW
        if first + n - 1 in WINDOW
    ]
    return [f"U{first_number + i:02}:{'/'.join(each)}" for i, each in enumerate(cells)]


# CRF++'s example/chunking/template: the 19 templates of CRFsuite's chunking example, with padding instead of BOS/EOS.
WORDS = [*n_gram_lines(0, 0, 1), "U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]"]
CRFPP_CHUNKING = "\n".join([*WORDS, *n_gram_lines(1, 10, 3), "B"])

ONE_COLUMN = {"7 templates": "\n".join(WORDS), "12 templates": "\n".join(n_gram_lines(0, 0, 3))}


def nothing_yet(text: str) -> TemplateAttributes:
    return TemplateAttributes.empty(parse_template(text, "crfpp"))


def rows_of(folder: Path, name: str, part: str) -> Iterator[Rows]:
    """The rows of each sentence, label last."""
    path = folder / name / f"{part}.txt.gz"
    if not path.is_file():
        raise SystemExit(f"Skipped: {path.name} of {name} is not in the data folder.")
    return (sentence.rows for sentence in read_columns(path))


def labels_of(sentences: Any) -> list[list[str]]:
    return [[row[-1] for row in rows] for rows in sentences]


def encode(folder: Path) -> Figures:
    """CoNLL-2000 train, rows in memory, 19 templates: ids by template, and Python strings that are interned."""
    sentences = list(rows_of(folder, "conll2000", "train"))
    y = labels_of(sentences)
    template = TemplateAttributes.empty(load_template("crfsuite-chunking"))

    def by_template() -> Any:
        return encode_training(sentences, y, known=template)

    def by_strings() -> Any:
        return encode_training(map(chunking, sentences), y)

    assert by_template()[1].names() == by_strings()[1].names()
    strings, ours = best_time(by_strings, 3), best_time(by_template, 7)
    return {"strings_seconds": strings, "template_seconds": ours, "ratio": strings / ours}


def tag(folder: Path) -> Figures:
    """CoNLL-2000 test, rows in memory: encode and Viterbi, and Python feature function with pycrfsuite's Tagger."""
    train, test = list(rows_of(folder, "conll2000", "train")), list(rows_of(folder, "conll2000", "test"))
    n_tokens = sum(map(len, test))
    template = TemplateAttributes.empty(load_template("crfsuite-chunking"))
    plan = make_plan("lbfgs", tol=None, max_iterations=30)
    model = fit_model(train, labels_of(train), plan, attributes=template, n_jobs=2).model
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "model")
        peer.train(map(chunking, train), labels_of(train), path, c2=1.0, max_iterations=30)
        tagger = peer.pycrfsuite.Tagger()
        tagger.open(path)
        theirs = best_time(lambda: [tagger.tag(chunking(rows)) for rows in test], 5)
        agree = sum(
            a == b
            for rows, found in zip(test, model.predict(test), strict=True)
            for a, b in zip(found, tagger.tag(chunking(rows)), strict=True)
        )
    ours = best_time(lambda: model.predict(test), 9)
    seven = next(rows for rows in test if len(rows) == 7)
    return {
        "crfsuite_tokens_per_second": n_tokens / theirs,
        "tokens_per_second": n_tokens / ours,
        "ratio": theirs / ours,
        "same_labels": agree / n_tokens,
        "with_reading_tokens_per_second": n_tokens
        / best_time(lambda: model.predict(rows_of(folder, "conll2000", "test")), 5),
        "one_sentence_us": 1e6 * best_time(lambda: model.predict_single(seven), 500),
        "model_bytes": len(model.to_bytes()),
    }


def counts(folder: Path) -> Figures:
    """Weights of CRF++'s template with all labels and label pairs, on CoNLL-2000; with a cut-off of 3 as well."""
    sentences = list(rows_of(folder, "conll2000", "train"))
    corpus, attributes, labels = encode_training(sentences, labels_of(sentences), known=nothing_yet(CRFPP_CHUNKING))
    everything = {"all_states": True, "all_transitions": True}
    frequent, used = without_rare(corpus, len(attributes), 3)
    return {
        "weights": build_feature_map(corpus, len(attributes), len(labels), **everything).n_weights,
        "expected": 7_448_606,
        "weights_cut_off_3": build_feature_map(frequent, int(used.sum()), len(labels), **everything).n_weights,
        "expected_cut_off_3": 1_679_700,
    }


def scale(folder: Path) -> Figures:
    """The same templates on larger corpora, straight from the file: time per token, and memory. Own processes."""
    figures: Figures = {}
    for size in ONE_COLUMN:
        by_corpus = {}
        for name in ("conll2000", "brown-base", "gutenberg-seg"):
            runs = [own_process(folder, name, size) for _ in range(3)]
            best = min(runs, key=lambda run: float(run["us_per_token"]))
            by_corpus[name] = best
        base = by_corpus["conll2000"]["us_per_token"]
        for name in ("brown-base", "gutenberg-seg"):
            by_corpus[name]["times_conll2000"] = by_corpus[name]["us_per_token"] / base
        figures[size] = by_corpus
    return figures


def encode_file(folder: Path, name: str, size: str) -> Figures:
    """One pass over a file: read, encode, label ids; processor time. The corpus is most of the memory that is added."""
    encode_training([[["a", "b"]] * 5], [["X"] * 5], known=nothing_yet(ONE_COLUMN[size]))  # kernels are loaded
    before = resident("VmRSS")
    began = time.process_time()
    sentences, again = tee(rows_of(folder, name, "train"))
    y = ([row[-1] for row in rows] for rows in again)
    corpus, attributes, _ = encode_training(sentences, y, known=nothing_yet(ONE_COLUMN[size]))
    seconds = time.process_time() - began
    return {
        "tokens": corpus.n_positions,
        "attributes": len(attributes),
        "us_per_token": 1e6 * seconds / corpus.n_positions,
        "corpus_mb": sum(array.nbytes for array in corpus) / 2**20,
        "added_peak_mb": (resident("VmHWM") - before) / 1024,
    }


def own_process(folder: Path, name: str, size: str) -> Figures:
    command = [sys.executable, __file__, "--data", str(folder), "--own", name, size]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


SECTIONS = {section.__name__: section for section in (encode, tag, counts, scale)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas between")
    parser.add_argument("--own", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = corpora.data_folder(arguments.data)
    if arguments.own:
        print(json.dumps(encode_file(folder, *arguments.own)))
        return
    results: Figures = {"cores": os.cpu_count(), "version": fastcrf.__version__}
    for name in arguments.only.split(","):
        results[name] = SECTIONS[name](folder)
        if not arguments.json:
            print(f"{name}: {SECTIONS[name].__doc__}", flush=True)
            show(results[name])
    if arguments.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
