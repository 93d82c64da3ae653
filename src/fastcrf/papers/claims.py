"""How claims are decided: comparisons of medians over seeds, by thresholds that stand in the items.

A claim is confirmed if every comparison holds that could be made, refuted if none does, and undecided otherwise. What
could not be compared, because it was not run, is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from fastcrf.papers.item import CONFIRMED, NOT_RUN, REFUTED, UNDECIDED, Claim, Verdict
from fastcrf.papers.view import View, middle

Outcome = tuple[str, bool | None]  # what was compared, and whether it held; None: it could not be
GAPS = (1e-2, 1e-4)
Pair = tuple[float | None, float | None]


def decide(outcomes: Iterable[Outcome]) -> Verdict:
    every = list(outcomes)
    known = [(text, held) for text, held in every if held is not None]
    if not known:
        return Verdict(NOT_RUN)
    held = sum(1 for _, held in known if held)
    word = CONFIRMED if held == len(known) else REFUTED if held == 0 else UNDECIDED
    missing = f"; {len(every) - len(known)} could not be made" if len(known) < len(every) else ""
    details = "; ".join(text for text, _ in known)
    why = f"{held} of {len(known)} comparisons hold{missing}: {details}"
    return Verdict(word, why, partly=len(known) < len(every))


def compared(text: str, pair: Pair, least: float, most: float) -> Outcome:
    """Whether one / other lies between two bounds. Infinity stands for what was never reached."""
    one, other = pair
    if one is None or other is None or (math.isinf(one) and math.isinf(other)) or math.isnan(one + other):
        return text, None
    ratio = math.inf if math.isinf(one) or not other else 0.0 if math.isinf(other) else one / other
    return f"{text} {shown(one)} / {shown(other)}", least <= ratio <= most


def shown(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.4g}"


def spends(
    sentence: str,
    one: str,
    other: str,
    sets: Sequence[str],
    *,
    least: float = 0.0,
    most: float = 1.0,
    gaps: Sequence[float] = GAPS,
    x: str = "passes",
) -> Claim:
    """`one` spends between `least` and `most` times what `other` spends until each gap, on each set."""

    def outcomes(view: View) -> Iterator[Outcome]:
        for name in sets:
            for gap in gaps:
                pair = middle(view.spent(name, one, gap, x)), middle(view.spent(name, other, gap, x))
                yield compared(f"{name} to {gap:g}:", pair, least, most)

    return decided(sentence, outcomes)


def ends(
    sentence: str,
    one: str,
    other: str,
    sets: Sequence[str],
    y: str = "excess",
    *,
    at: Sequence[float | None] = (None,),
    least: float = 0.0,
    most: float = 1.0,
    rank: int = 0,
) -> Claim:
    """y of `one` is between `least` and `most` times that of `other`, at the end or after so many passes.

    rank: 1 for the second-best step size of `one`.
    """

    def outcomes(view: View) -> Iterator[Outcome]:
        for name in sets:
            for passes in at:
                place = name if passes is None else f"{name} at {passes:g}"
                pair = middle(view.values(name, one, y, passes, rank=rank)), middle(view.values(name, other, y, passes))
                yield compared(f"{place}:", pair, least, most)

    return decided(sentence, outcomes)


def near(
    sentence: str, labels: Sequence[str], sets: Sequence[str], y: str, within: float, at: float | None = None
) -> Claim:
    """y of every curve lies within so much of that of the first one."""

    def judge(view: View) -> Verdict:
        outcomes: list[Outcome] = []
        for name in sets:
            first = middle(view.values(name, labels[0], y, at))
            for label in labels[1:]:
                own = middle(view.values(name, label, y, at))
                held = None if first is None or own is None else abs(own - first) <= within
                outcomes.append((f"{name}: {label} {'' if own is None else shown(own)}", held))
        return decide(outcomes)

    return Claim(sentence, judge)


def reaches(
    sentence: str, label: str, sets: Sequence[str], y: str, value: float, passes: float, rising: bool = True
) -> Claim:
    """y of a curve has come to a value after so many passes."""

    def judge(view: View) -> Verdict:
        outcomes: list[Outcome] = []
        for name in sets:
            own = middle(view.values(name, label, y, passes))
            held = None if own is None else (own >= value if rising else own <= value)
            outcomes.append((f"{name}: {'' if own is None else shown(own)}, said {value:g}", held))
        return decide(outcomes)

    return Claim(sentence, judge)


def decided(sentence: str, outcomes: Callable[[View], Iterable[Outcome]]) -> Claim:
    """A claim with comparisons of its own."""
    return Claim(sentence, lambda view: decide(outcomes(view)))
