"""The sets that `fastcrf.data.datasets.loaders` knows: files, checksums of their texts, columns, origins, addresses.

An address is given only where the text itself, or what `convert` makes of it, is known to be at a stable public place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

ColumnRows = list[list[str]]

TEST_FOLD = "0"  # of the OCR letters, as is usual


def every(rows: ColumnRows) -> bool:
    return True


def in_test_fold(rows: ColumnRows) -> bool:
    return rows[0][2] == TEST_FOLD


def in_other_folds(rows: ColumnRows) -> bool:
    return not in_test_fold(rows)


class Part(NamedTuple):
    """One subset: the file it is in, the checksum of the file's text, and which of its sentences belong to it."""

    file: str
    sha256: str
    url: str | None = None
    belongs: Callable[[ColumnRows], bool] = every


class KnownSet(NamedTuple):
    """A set: its subsets, the attributes that suit it, where it comes from, and which columns are what."""

    parts: Mapping[str, Part]
    feature_set: str  # of fastcrf.data.datasets.feature_sets
    origin: str
    inputs: slice = slice(-1)  # columns that attributes may be made of
    label: int = -1
    convert: Callable[[bytes], bytes] = bytes  # from what is at the address to columns


def letters_from_stanford(text: bytes) -> bytes:
    """Convert the original letter.data (id, letter, next id, word id, position, fold, 128 pixels) to columns.

    Each line is a letter; a next id of -1 ends the word.
    """
    lines = []
    for line in text.decode("ascii").splitlines():
        _, letter, following, word, _, fold, *pixels = line.split()
        lines.append(f"{word} {letter} {fold} {''.join(pixels)}\n")
        if following == "-1":
            lines.append("\n")
    return "".join(lines).encode("ascii")


CONLL2000 = "https://www.clips.uantwerpen.be/conll2000/chunking"
STANFORD = "https://ai.stanford.edu/~btaskar/ocr/letter.data.gz"
LETTERS = "65073b2868eacc969eb6eb77aa32663c7ff0528943ff119b6a9eb4f652b69d76"

KNOWN_SETS: dict[str, KnownSet] = {
    "conll2000": KnownSet(
        {
            "train": Part(
                "train", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea", f"{CONLL2000}/train.txt.gz"
            ),
            "test": Part(
                "test", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628", f"{CONLL2000}/test.txt.gz"
            ),
        },
        "chunking",
        "Chunks of the Wall Street Journal: Tjong Kim Sang & Buchholz (2000). Columns: word, part of speech, chunk.",
    ),
    "ocr-letters": KnownSet(
        {
            "train": Part("letters", LETTERS, STANFORD, in_other_folds),
            "test": Part("letters", LETTERS, STANFORD, in_test_fold),
        },
        "pixels",
        "Handwritten words without their capitals, letter by letter: Kassel (1995), Taskar, Guestrin & Koller (2003). "
        "Columns: word number, letter (the label), fold, 16 x 8 pixels.",
        inputs=slice(3, None),
        label=1,
        convert=letters_from_stanford,
    ),
    "conll2002-ned": KnownSet(
        {
            "train": Part("train", "0a419dcb356b62c8cff38515675550b3d5dbea9f45a1c4956328dbd5cc7fcdbc"),
            "testa": Part("testa", "51259d4bfe52462f211d3d0b67173a7ecbfa296e199f6c6bd0895f4c78155057"),
            "testb": Part("testb", "2aa748edb82e6f9c4d82e57a4bed69ded18cfa4803122c75070335d513517488"),
        },
        "ner",
        "Dutch named entities of the shared task of CoNLL-2002: Tjong Kim Sang (2002). Columns: word, part of "
        "speech, entity (IOB2); the -DOCSTART- tokens are kept.",
    ),
    "conll2002-esp": KnownSet(
        {
            "train": Part("train", "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008"),
            "testa": Part("testa", "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87"),
            "testb": Part("testb", "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016"),
        },
        "ner",
        "Spanish named entities of the shared task of CoNLL-2002: Tjong Kim Sang (2002). Columns: word, part "
        "of speech (not an official one), entity (IOB2).",
    ),
    "jnlpba": KnownSet(
        {
            "train": Part("train", "a34cc39c20de658508d09878c14d9d0cc9318577319c4006dbf58d5c620c0250"),
            "test": Part("test", "5e654faab1eeab275f05f9048782553808214d413f9067d187302378dbddc248"),
        },
        "ner",
        "Named entities of molecular biology, from GENIA: Kim, Ohta, Tsuruoka, Tateisi & Collier (2004). "
        "Columns: word, entity (IOB2).",
    ),
    "treebank-sample": KnownSet(
        {
            "train": Part("train", "f2bebefd94ccb25c563501b548a18fbb2b2788e4ddb9301517aafa520bb90e29"),
            "test": Part("test", "497db64be681efe7e574f07ddd92902338e24479c085ab052bbbe93c1c8321d0"),
        },
        "pos",
        "The free sample of the Penn Treebank, as NLTK has it; the first 3,000 sentences are the training "
        "set. Columns: word, part of speech.",
    ),
    "ud-ewt-xpos": KnownSet(
        {
            "train": Part("train", "aaff45b7b1dd243fe45f35a623fa2c872becdd0f84fc171d24390f2daad9bfb7"),
            "dev": Part("dev", "f5bdd75b26359464a7a42d6641ac42dda22d2dfeac9b883a2390f49a2ca4d48d"),
            "test": Part("test", "2a8e959d5bbc68d333fe6dd68bda45fbd25efa93537b10888f5ea988f329e726"),
        },
        "pos",
        "English Web Treebank of Universal Dependencies: Silveira et al. (2014). Columns: word, XPOS tag.",
    ),
    "brown-base": KnownSet(
        {
            "train": Part("train", "de10495a817ed7c0c0f55623a0fe20d78444a75d801cfd6a988351b3ce444f12"),
            "test": Part("test", "a4ccbe0d6e50bb6ec07a05d3fa25d446b63b6a6b4155b1a3b20a0162f5bca482"),
        },
        "pos",
        "The Brown corpus, as NLTK has it, with base tags: Francis & Kucera (1979). Columns: word, part of speech.",
    ),
    "gutenberg-seg": KnownSet(
        {
            "train": Part("train", "87e4847997041d7499133913ac88c968eb2ac0fb15b184eb1548379b620125fc"),
            "test": Part("test", "ae213c88caaa1885d0fd123144982715c131a571791188f1ae5caad5103c7fc1"),
        },
        "characters",
        "English books of Project Gutenberg without spaces, to be cut into words. Columns: character, B M E or S.",
    ),
    "usaddress": KnownSet(
        {
            "labeled": Part("labeled", "c2f79d18157b069fb3ed738e15f3662d65349dff1662b1895c767ba32189d145"),
            "labeled-test": Part("labeled-test", "369520b978ac7bec088e297db073b7cdb64b46f2c282e022ee5d110ab300ebcb"),
            "us50-test": Part("us50-test", "8cc91a9148fb733d7f77fc280e40f42b0a2b79fa292c47465ed8beab1ca8f858"),
            "openaddress-linn": Part(
                "openaddress-linn", "b3f4851912ffb2d96624ecb814ad17982096ee870074c1fb40e2395edd8a6e5b"
            ),
            "synthetic-osm": Part("synthetic-osm", "2c8e2680369f698ba7ce2e6d679d2598165ef13ccb63d3d7f7ee55905159e8a8"),
        },
        "ner",
        "American addresses of the project usaddress. Columns: word, part of the address.",
    ),
}
