"""Pages, docstrings and messages use the terms of the glossary, not the words that it retired.

Names in code are not prose: identifiers, string keys without a space and code blocks of pages are left out, and so are
titles of papers.
"""

from __future__ import annotations

import ast
import re

from reference import pages
from reference.cases import for_each
from reference.pages import REPOSITORY

TITLES = next(
    page for page in pages.PAGES if page.name == "bibliography.md"
)  # titles of papers, in the words of their authors
MEASUREMENTS = ("benchmarks", "notes")  # dated records
PAGES = [page for page in pages.PAGES if page != TITLES and page.parent.name not in MEASUREMENTS]
MODULES = sorted((REPOSITORY / "src").rglob("*.py"))
RETIRED = {  # pattern: what to write instead
    r"\bheal(s|ing|ed)?\b": "recompiles, replaces",
    r"\b(in|is|are|with) (one|a) sentence\b": "the exception, the message",
    r"\b(has|have|had) (a|no) meaning\b": "is (not) supported, is registered for",
    r"\b(attributes|things) that (always )?go together\b": "duplicate attributes",
    r"\bsolvers? that draws?\b": "stochastic solver",
    r"\broughly\b|\brough (step|row|gradient)s?\b": "single-precision",
    r"\bby the clock\b": "wall time",
    r"\brefus(e|es|ed|ing)\b": "raises, rejects",
    r"\b(standing|borrowing|rare|ordered) kernels?\b": "outlined, noalloc, lazy, strict kernel",
    r"\bwhat cannot be\b": "list the cases",
    r"\b(is|are|was|were) told\b": "is printed, is reported",
    r"\b(a|one|two|three) (third|quarter|fifth|tenth)s? of\b": "digits",
    r"\bon-line\b": "online",
    r"\blearns? from mistakes\b": "mistake-driven",
    r"\bprogrammes?\b": "program",
    r"\bafresh\b": "start over",
    r"\b(whoever|nobody)\b": "the user, no one",
    r"\bsuboptimality\b": "optimality gap",
    r"\bprocessor (time|seconds?)\b": "CPU time",
    r"\bproven\b|\bproved\b": "certified",
    r"\bcaught up\b|\bcatch(es)? up\b|\bmissed steps\b": "lazy update",
    r"\bseal(ed|s)\b": "signed",
    r"\b(regularis|optimis|minimis|serialis|recognis)|\blabell(ed|ing)\b": "American spelling",
    r"\b(neighbour|behaviour|colour|licence|favour)": "American spelling",
    r", too\b": "also",
    r"\b(schmidt|tsuruoka|yang|tsuboi|cao)20\d\d\b": "Schmidt et al. (2015)",
    r"\bthe least of\b": "the minimum of",
    r"\bgoes on exactly\b|\bgo on exactly\b": "resume",
    r"\bdearer\b|\bdearest\b": "more expensive",
}


def prose_of_page(page):
    """The text of a page without code, links, quotations and references."""
    text = re.sub(r"^```.*?^```$|^## References.*", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\"", "", text)


def prose_of_module(module):
    """The docstrings and messages of a module, without code, quotations and titles of papers."""
    values = [node.value for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Constant)]
    texts = [value for value in values if isinstance(value, str) and " " in value]
    return "\n".join(re.sub(r"`[^`\n]*`|'[^'\n]*'|\"[^\"]*\"", "", text) for text in texts)


def retired_words(text):
    found = ((re.search(pattern, text), better) for pattern, better in RETIRED.items())
    return [f"{match[0]!r}: write {better}" for match, better in found if match]


@for_each("page", PAGES)
def test_a_page_has_no_retired_words(page):
    assert not retired_words(prose_of_page(page)), f"{page.name}: {retired_words(prose_of_page(page))}"


@for_each("module", MODULES)
def test_a_module_has_no_retired_words(module):
    found = retired_words(prose_of_module(module))
    assert not found, f"{module.relative_to(REPOSITORY)}: {found}"


def test_a_retired_word_is_noticed():
    assert retired_words("It is refused in a sentence.")
    assert not retired_words("It raises ValueError.")


def test_the_readme_is_short():
    text = re.sub(r"^```.*?^```$", "", (REPOSITORY / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(re.sub(r"https?://\S+", "", text).split()) <= 600
