"""The papers' data and features, or what stands in for them: each set with what differs.

Features of CRF++ are its example's template: 19 lines on words and parts of speech. The sets are those of
`fastcrf.data.datasets.loaders`; toy sets stand for all of them in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.datasets.digits import make_digits
from fastcrf.data.datasets.feature_sets import FEATURE_SETS, add_n_grams, chunking, ner
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.column_attributes import add_window, column_items, shape
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import parse_template
from fastcrf.lab.dataset import Dataset, make_dataset

WINDOW = range(-2, 3)
HELD_OUT = 1000  # sentences that Tsuruoka et al. (2009) hold out to choose C
LONGEST_SUBSTRING = 10
PART = 200  # sentences of a set for methods whose updates move every weight


class Substitute(NamedTuple):
    """A set of an experiment, and how it differs from the paper's."""

    title: str
    load: Callable[..., Dataset]  # first=N: train with the first N sequences
    differs: str = ""
    letters: bool = False  # its toy is images of digits, not sentences


def cells(column: int, length: int, first_number: int) -> list[str]:
    """Lines of a template of CRF++ for all n-grams of a column within the window."""
    starts = [first for first in WINDOW if first + length - 1 in WINDOW]
    texts = ["/".join(f"%x[{offset},{column}]" for offset in range(first, first + length)) for first in starts]
    return [f"U{first_number + k:02}:{text}" for k, text in enumerate(texts)]


WORD_PAIRS = ["U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]"]
CRFPP_CHUNKING = "\n".join([*cells(0, 1, 0), *WORD_PAIRS, *cells(1, 1, 10), *cells(1, 2, 15), *cells(1, 3, 20), "B"])


def by_template(min_count: int = 1, share: int = 1, held_out: int = 0, first: int | None = None) -> Dataset:
    """CoNLL-2000 with every label for every attribute of the template, as CRF++ has them; of `first` sentences only."""
    X, y = load("conll2000", return_X_y=True)
    test = load("conll2000", subset="test", return_X_y=True)
    if held_out:
        (X, y), test = (X[held_out:], y[held_out:]), (X[:held_out], y[:held_out])
    n = len(X) // share if first is None else first
    attributes = TemplateAttributes.empty(parse_template(CRFPP_CHUNKING, "crfpp"))
    dense: dict[str, Any] = {"all_states": True, "all_transitions": True}
    return make_dataset("conll2000", X[:n], y[:n], test, attributes=attributes, min_count=min_count, **dense)


def from_columns(
    name: str,
    features: Callable[[Any], Any],
    part: str = "test",
    held_out: int = 0,
    first: int | None = None,
    **options: Any,
) -> Dataset:
    """A set with a feature function, and a part to score: another one, or the first sentences of the training set.

    first: train with so many sentences.
    """
    X, y = (rows[:first] for rows in load(name, return_X_y=True))
    X_test, y_test = load(name, subset=part, return_X_y=True)
    if held_out:
        X, y, X_test, y_test = X[held_out:], y[held_out:], X[:held_out], y[:held_out]
    return make_dataset(name, map(features, X), y, (map(features, X_test), y_test), **options)


def s3(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The features S3 of Altun, Johnson & Hofmann (2003), as far as that paper lists them: the word and its spelling
    (capitals, digits, punctuation, last letters) at the position and at both neighbors.
    """
    words = [row[0] for row in rows]
    items: list[list[str]] = [[] for _ in rows]
    add_window(items, "w", words, (-1, 0, 1))
    add_window(items, "shape", [shape(word) for word in words], (-1, 0, 1))
    add_window(items, "end", [word[-3:] for word in words], (-1, 0, 1))
    add_window(items, "capital", [str(word[:1].isupper()) for word in words], (-1, 0, 1))
    return items


def biomedical(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The features of Tsuruoka et al. (2009) for JNLPBA without those of the GENIA tagger: words, pairs of words,
    substrings, shapes.
    """
    words = [row[0] for row in rows]
    items = [[f"sub={part}" for part in sorted(substrings(word))] for word in words]
    add_window(items, "w", words, WINDOW)
    add_window(items, "shape", [shape(word) for word in words], (0,))
    add_n_grams(items, rows, (("w", 0, -1, 0), ("w", 0, 0, 1)))
    return items


def substrings(word: str) -> set[str]:
    """All parts of a word that are shorter than 10 characters."""
    n = len(word)
    return {word[a:b] for a in range(n) for b in range(a + 1, min(n, a + LONGEST_SUBSTRING - 1) + 1)}


ALL: dict[str, Any] = {"all_states": True, "all_transitions": True}
NER_POS, POS, PIXELS = FEATURE_SETS["ner-pos"], FEATURE_SETS["pos"], FEATURE_SETS["pixels"]
NO_WSJ = "The Penn Treebank may not be passed on: {} instead of 38,219 sentences of the Wall Street Journal."

SETS: dict[str, Substitute] = {
    "ocr": Substitute("OCR letters", partial(from_columns, "ocr-letters", PIXELS, **ALL), letters=True),
    "conll2000-cut": Substitute(
        "CoNLL-2000, CRF++ template, cut-off 3",
        partial(by_template, min_count=3),
        differs="The paper does not list its features; its memory table fits about 1.76 million.",
    ),
    "dutch": Substitute(
        "CoNLL-2002 Dutch with parts of speech",
        partial(from_columns, "conll2002-ned", NER_POS, "testa", **ALL),
        differs="The paper does not list its features; its memory table fits about 2.8 million.",
    ),
    "treebank": Substitute(
        "free sample of the Penn Treebank",
        partial(from_columns, "treebank-sample", POS, **ALL),
        differs=NO_WSJ.format("3,000 sentences of its free sample"),
    ),
    "conll2000-cut-part": Substitute(
        "CoNLL-2000, its first 200 sentences", partial(by_template, min_count=3, first=PART)
    ),
    "dutch-part": Substitute(
        "CoNLL-2002 Dutch, its first 200 sentences",
        partial(from_columns, "conll2002-ned", NER_POS, "testa", first=PART, **ALL),
    ),
    "treebank-part": Substitute(
        "Penn Treebank's sample, its first 200 sentences",
        partial(from_columns, "treebank-sample", POS, first=PART, **ALL),
    ),
    "conll2000-small": Substitute(
        "CoNLL-2000, CRFsuite's features", partial(from_columns, "conll2000", chunking)
    ),
    "conll2000-large": Substitute(
        "CoNLL-2000, CRFsuite's features, dense", partial(from_columns, "conll2000", chunking, **ALL)
    ),
    "conll2000-crfpp": Substitute("CoNLL-2000, CRF++ template", by_template),
    "conll2000-quarter": Substitute(
        "CoNLL-2000, CRF++ template, the first quarter",
        partial(by_template, share=4),
        differs="The paper does not say which quarter; ours is the first.",
    ),
    "conll2000-tuning": Substitute(
        "CoNLL-2000 without its first 1,000 sentences, which are held out",
        partial(from_columns, "conll2000", chunking, held_out=HELD_OUT),
        differs="The paper does not say which 1,000 sentences it holds out.",
    ),
    "conll2000-crfpp-tuning": Substitute(
        "CoNLL-2000, CRF++ template, first 1,000 sentences held out", partial(by_template, held_out=HELD_OUT)
    ),
    "jnlpba-substrings": Substitute(
        "JNLPBA with substrings",
        partial(from_columns, "jnlpba", biomedical),
        "Without the parts of speech and chunks of the GENIA tagger, whose output is not at hand.",
    ),
    "jnlpba": Substitute(
        "JNLPBA",
        partial(from_columns, "jnlpba", ner, **ALL),
        "The paper does not list its features; ours are words, affixes and shapes in a window.",
    ),
    "ud-ewt": Substitute(
        "English Web Treebank",
        partial(from_columns, "ud-ewt-xpos", POS),
        NO_WSJ.format("12,544 sentences of the English Web Treebank"),
    ),
    "spanish": Substitute(
        "CoNLL-2002 Spanish, features S3",
        partial(from_columns, "conll2002-esp", s3, "testb", **ALL),
        differs="Altun et al. describe their features in words; the paper counts 99,135 attributes, ours are 91,533.",
    ),
    "spanish-tuning": Substitute(
        "CoNLL-2002 Spanish, features S3, development set",
        partial(from_columns, "conll2002-esp", s3, "testa", **ALL),
    ),
}  # fmt: skip


def toy(name: str) -> Dataset:
    """A few sequences that come with fastcrf, in place of a set."""
    return few_letters() if SETS[name].letters else few_sentences()


@cache
def few_letters() -> Dataset:
    X_train, X_test, y_train, y_test = make_digits(random_state=0)
    return make_dataset("toy", X_train[:24], y_train[:24], (X_test[:8], y_test[:8]), **ALL)


@cache
def few_sentences() -> Dataset:
    tokens, labels = make_addresses(40, 0)
    items = [column_items([[token] for token in address]) for address in tokens]
    return make_dataset("toy", items[:32], labels[:32], (items[32:], labels[32:]), **ALL)
