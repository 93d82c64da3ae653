"""spaCy's documents: from `DocBin` files and pipelines, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastcrf.data.files.text_lines import name_of
from fastcrf.data.sources.offsets import spans_of
from fastcrf.data.sources.source import Sentence, Sentences
from fastcrf.exceptions import DataError
from fastcrf.system.optional_packages import optional_package


def spacy_docs(docs: str | os.PathLike[str] | Iterable[Any], by_sentence: bool = False) -> Sentences:
    """Read a ``DocBin`` file of spaCy, or its documents. Entities become BIO labels.

    Parameters
    ----------
    docs : path, DocBin or iterable of Doc
        The documents. An iterator can be read once.
    by_sentence : bool, default=False
        Whether sentences, which spaCy must have marked, are sequences; otherwise documents are.

    Returns
    -------
    Sentences
        The sequences.

    Raises
    ------
    ImportError
        If spaCy is not installed.
    DataError
        If the file is no DocBin, or sentences are not marked.
    """
    spacy = optional_package("spacy", "spacy")
    found: Any = read_docbin(docs) if isinstance(docs, str | os.PathLike) else docs
    every: Iterable[Any] = list(found.get_docs(spacy.blank("xx").vocab)) if hasattr(found, "get_docs") else found

    def sentences() -> Iterator[Sentence]:
        for i, doc in enumerate(every):
            if by_sentence and not doc.has_annotation("SENT_START"):
                raise DataError(f"document {i}: no sentences are marked; run a sentencizer, or read whole documents.")
            for part in doc.sents if by_sentence else [doc]:
                words = [token for token in part if not token.is_space]
                yield Sentence(
                    f"document {i}", [[token.text] for token in words], [bio_label(token) for token in words]
                )

    return Sentences(sentences)


def read_docbin(path: str | os.PathLike[str]) -> Any:
    """Read a file that DocBin.to_disk wrote."""
    optional_package("spacy", "spacy")
    tokens = optional_package("spacy.tokens", "spacy")
    try:
        return tokens.DocBin().from_disk(path)
    except OSError as error:
        raise DataError(f"Cannot read {name_of(path)}: {error.strerror or error}.") from None
    except Exception as error:  # of zlib, msgpack, or a KeyError: spaCy has no error of its own for this
        raise DataError(f"{name_of(path)} is no DocBin file, or it is damaged ({error}).") from None


def bio_label(token: Any) -> str:
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_iob_ in ("B", "I") else "O"


def to_docs(X: Iterable[Sequence[Any]], y: Iterable[Sequence[str]], path: str | os.PathLike[str] | None = None) -> Any:
    """Make documents of spaCy, whose entities are the spans of BIO labels, such as those that a model predicts.

    Parameters
    ----------
    X : iterable of sequences
        The tokens of each document, or rows of columns whose first is the token.
    y : iterable of sequences of str
        The BIO labels of each document.
    path : str or path, default=None
        Where to save them as a ``DocBin`` file, for ``spacy train``.

    Returns
    -------
    DocBin
        The documents.

    Raises
    ------
    ImportError
        If spaCy is not installed.
    DataError
        If a document has another number of tokens than labels.
    """
    spacy, tokens = optional_package("spacy", "spacy"), optional_package("spacy.tokens", "spacy")
    vocab, found = spacy.blank("xx").vocab, tokens.DocBin()
    for i, (sequence, labels) in enumerate(zip(X, y, strict=True)):
        words = [token if isinstance(token, str) else token[0] for token in sequence]
        if len(words) != len(labels):
            raise DataError(f"X[{i}] has {len(words)} tokens and y[{i}] has {len(labels)} labels; give one per token.")
        doc = tokens.Doc(vocab, words=words)
        doc.ents = [tokens.Span(doc, start, end, label=kind) for start, end, kind in spans_of(labels)]
        found.add(doc)
    if path is not None:
        from fastcrf.system.atomic_write import replace_file

        replace_file(path, found.to_bytes())
    return found
