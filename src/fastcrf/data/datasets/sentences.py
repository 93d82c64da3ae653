"""A toy corpus: English news sentences from a small grammar, with tags, chunks and entities.

The columns are those of CoNLL-2000 and CoNLL-2003: Penn Treebank tags, chunks and named entities in IOB2. It is
learnable and not trivial: towns, people and firms share names, and many words are nouns and verbs.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from fastcrf.data.datasets.addresses import FAMOUS, FIRST_NAMES, composed_name, words

LEXICON = {
    "DT": words("the a this that every some no another"),
    "PDT": words("all half both such"),
    "JJ": words("new old quiet annual local strong public early major last fast open light cold human red"),
    "JJR": words("larger smaller better cheaper faster lower higher"),
    "JJS": words("largest best cheapest oldest fastest lowest"),
    "NN": words(
        "report plan market price bridge work school offer cut deal vote river game visit call rise park study"
    ),
    "NNS": words(
        "reports plans markets prices bridges works schools offers cuts deals votes games visits calls shares"
    ),
    "CD": words("two three 12 40 1,500 1998 7.5 million"),
    "PRP": words("he she they it we"),
    "PRP$": words("his her their its our"),
    "VBD": words("said bought opened visited cut sold built called closed won left met"),
    "VBZ": words("says plans works reports offers cuts votes calls opens runs"),
    "VBP": words("say plan work report offer cut vote call open run"),
    "VB": words("buy open visit cut sell build call close win leave offer report"),
    "VBG": words("buying opening visiting cutting selling building closing"),
    "VBN": words("bought opened visited cut sold built called closed left"),
    "MD": words("will may could must should"),
    "TO": ("to",),
    "IN": words("in near from with after before for at"),
    "RB": words("soon often again almost not early fast"),
    "RBR": words("more less faster earlier"),
    "RBS": words("most best"),
    "RP": words("up down off out"),
    "CC": words("and but or"),
    "EX": ("there",),
    "WP": ("who", "what"),
    "WP$": ("whose",),
    "WDT": ("which", "that"),
    "WRB": ("when", "where", "why"),
    "UH": ("yes", "well", "no"),
    "FW": ("vice", "versa", "per", "capita"),
    "NNP": words("Monday Tuesday Friday March June October"),
    "NNPS": words("Olympics Games Americans Canadians Democrats"),
    "POS": ("'s",),
    "SYM": ("*", "="),
    "LS": ("1", "2", "a"),
    "$": ("$",),
    "#": ("#",),
    "``": ("``",),
    "''": ("''",),
    "-LRB-": ("(",),
    "-RRB-": (")",),
    ",": (",",),
    ":": (";", "--", ":"),
    ".": (".",),
}
FIRMS = words("Motors Bank Group Partners Hotels Books Foods Steel Air")
TEAMS = words("United City Rovers Tigers Falls")

# A phrase is its chunk and its slots: tags, or PER, LOC and ORG. What ends with a question mark may be left out.
PHRASES = {
    "NOUN": words("""
        NP:DT_JJ?_NN NP:DT_VBN_NN NP:VBG_NNS NP:NN_NNS NP:PRP$_JJ?_NNS NP:PER NP:PER NP:PER+NP:POS_NN NP:ORG NP:ORG
        NP:ORG+NP:POS_JJ?_NNS NP:LOC NP:LOC NP:NNS_CC_NNS NP:NNS+O:CC+NP:NNS NP:DT_NN+PP:IN+NP:ORG NP:CD_NNS NP:PRP
        NP:DT_JJS_NN NP:DT_RBS_JJ_NN NP:NNPS NP:PDT_DT_NNS NP:DT_NN_NN NP:LOC_NN NP:ORG_NN NP:PER_CC_PER
        NP:PER+O:-LRB-+NP:LOC+O:-RRB- NP:PER+O:CC+NP:PER NP:$_CD_CD NP:JJR_NNS
    """),
    "VERB": words("""
        VP:VBD VP:VBD VP:VBZ VP:VBP VP:MD_RB?_VB VP:VBD_RB VP:VBD+ADVP:RB VP:RB_VBD VP:VBD+PRT:RP VP:VBD_VBG
        VP:VBP_TO_VB VP:VBD_VBN VP:VBZ_VBG+PRT:RP
    """),
    "MORE": words("""
        PP:IN+NP:LOC PP:IN+NP:NNP PP:TO+NP:LOC PP:IN+NP:PER PP:IN+NP:ORG PP:IN+NP:DT_NN PP:IN+VP:VBG+NP:NNS ADVP:RB
        ADVP:RBR PP:TO+NP:NNS VP:TO_VB+NP:DT_NN
    """),
}
PATTERNS = """
NOUN VERB NOUN MORE? MORE? O:.
NOUN VERB NOUN O:CC VERB NOUN MORE? O:.
NOUN VERB MORE MORE? O:.
MORE O:, NOUN VERB NOUN O:.
O:`` NOUN VERB NOUN O:, O:'' NP:PER VP:VBD O:.
NP:PER O:, NP:WP VERB NOUN O:, VERB NOUN O:.
NOUN O:, NP:WP$_NN VERB MORE? O:, VERB NOUN O:.
NP:EX VP:VBZ NOUN MORE O:, NP:WDT VERB NOUN O:.
ADVP:WRB NOUN VERB NOUN O:, NOUN VERB MORE? O:.
INTJ:UH O:, NOUN VERB NOUN MORE? O:.
NOUN O:: NP:#_CD NP:FW_FW O:.
LST:LS O:: NOUN O:SYM NP:CD O:.
""".strip().splitlines()
NOISE = 0.04  # share of words in capitals, in small letters, or with two letters swapped


class Sentences(NamedTuple):
    """Columns of a corpus, each a list of sentences."""

    words: list[list[str]]
    tags: list[list[str]]
    chunks: list[list[str]]
    entities: list[list[str]]


def make_sentences(n: int = 2000, random_state: int = 0) -> Sentences:
    """Draw `n` sentences. The same seed gives the same sentences."""
    rng = Random(random_state)
    rows = [list(zip(*draw_sentence(rng), strict=True)) for _ in range(n)]
    return Sentences(*([list(sentence[k]) for sentence in rows] for k in range(4)))


def draw_sentence(rng: Random) -> list[tuple[str, str, str, str]]:
    """Choose a pattern and fill its slots: word, tag, chunk and entity of each token."""
    tokens: list[tuple[str, str, str, str]] = []
    for phrase in draw_phrases(rng):
        chunk, slots = phrase.split(":", 1)
        filled = [each for slot in slots.split("_") for each in draw_slot(slot, rng)]
        for k, (word, tag, entity) in enumerate(filled):
            mark = "O" if chunk == "O" else f"{'I' if k else 'B'}-{chunk}"
            word = word if k or tokens else word[0].upper() + word[1:]
            tokens.append((distorted(word, rng), tag, mark, entity))
    return tokens


def draw_phrases(rng: Random) -> list[str]:
    """Return the phrases of a pattern, such as "NP:DT_JJ?_NN"."""
    parts = [part for part in rng.choice(PATTERNS).split() if not part.endswith("?") or rng.random() < 0.5]
    return [
        phrase
        for part in parts
        for phrase in (rng.choice(PHRASES[part.rstrip("?")]) if part.rstrip("?") in PHRASES else part).split("+")
    ]


def distorted(word: str, rng: Random) -> str:
    """Return the word, seldom with an error."""
    if len(word) < 3 or rng.random() >= NOISE:
        return word
    return rng.choice((word.upper(), word.lower(), word[:-2] + word[-1] + word[-2]))


def draw_slot(slot: str, rng: Random) -> list[tuple[str, str, str]]:
    """Return word, tag and entity of each token of a slot."""
    if slot.endswith("?"):
        return draw_slot(slot[:-1], rng) if rng.random() < 0.5 else []
    if slot in NAMES:
        name = NAMES[slot](rng).split()
        return [(word, "NNP", f"{'I' if k else 'B'}-{slot}") for k, word in enumerate(name)]
    return [(rng.choice(LEXICON[slot]), slot, "O")]


def person(rng: Random) -> str:
    last = rng.choice((composed_name(rng), rng.choice(FAMOUS)))
    return f"{rng.choice(FIRST_NAMES)} {last}" if rng.random() < 0.7 else last


def town(rng: Random) -> str:
    before = rng.choice(("New ", "Fort ", "San ")) if rng.random() < 0.15 else ""
    return before + rng.choice((composed_name(rng), rng.choice(FAMOUS)))


def firm(rng: Random) -> str:
    name = rng.choice((composed_name(rng), rng.choice(FAMOUS), rng.choice(FIRST_NAMES)))
    return f"{name} {rng.choice(rng.choice((FIRMS, TEAMS)))}" if rng.random() < 0.7 else name


NAMES = {"PER": person, "LOC": town, "ORG": firm}
