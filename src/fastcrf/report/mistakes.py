"""Sequences with wrong labels as HTML."""

from __future__ import annotations

from typing import Any

from fastcrf.markup.parts import text_of
from fastcrf.report.findings import Mistake


def tagged(mistake: Mistake) -> str:
    """Return the tokens of a sequence; wrong labels are marked, with the true label and the probability."""
    words = zip(mistake.tokens, mistake.true, mistake.predicted, mistake.chances, strict=True)
    return f'<p class="sequence"><b>{mistake.number:,}</b> {" ".join(word(*each) for each in words)}</p>'


def word(token: str, truth: Any, guess: Any, chance: float) -> str:
    if truth == guess:
        label = "" if guess == "O" else f"<small>{text_of(guess)}</small>"
        return f"<span>{text_of(token)}{label}</span>"
    label = f"<small><s>{text_of(guess)}</s> {chance:.0%} {text_of(truth)}</small>"
    return f'<span class="wrong">{text_of(token)}{label}</span>'
