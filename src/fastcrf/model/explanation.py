"""`Explanation`: why one label sequence scores more than another, as a table in text and in HTML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fastcrf.markup.parts import style, table, text_of

SHOWN = 20  # contributions in a table of text
FRAGMENT = """<div class="fastcrf"><style>{style}</style>
<p>{head}</p>
<p class="explained">{tokens}</p>
{rows}
</div>"""


@dataclass(frozen=True)
class Contribution:
    """What one attribute or one transition adds to the difference.

    Parameters
    ----------
    position : int
        Position of the token; of a transition, that of its last label.
    kind : {"attribute", "transition"}
        What contributes.
    name : str
        The attribute, or the labels in a row.
    score : float
        The contribution: positive where it speaks for the explained labels.
    """

    position: int
    kind: str
    name: str
    score: float


@dataclass(frozen=True)
class Explanation:
    """Why a label sequence scores more than another one. ``str()`` is a table; notebooks show colored tokens.

    Parameters
    ----------
    tokens : tuple of str
        The tokens of the sequence.
    span : tuple of (int, int)
        The explained place, (first, last + 1).
    labels : tuple
        The explained label sequence.
    against : tuple
        The label sequence that it is compared with: the best one with other labels at the place.
    difference : float
        The score of `labels` minus that of `against`: the log of how many times as probable they are.
    contributions : tuple of Contribution
        Everything that differs, the largest first. The scores add up to the difference.
    """

    tokens: tuple[str, ...]
    span: tuple[int, int]
    labels: tuple[Any, ...]
    against: tuple[Any, ...]
    difference: float
    contributions: tuple[Contribution, ...]

    def by_token(self) -> tuple[float, ...]:
        """Return the sum of the contributions at each token."""
        rows: list[list[float]] = [[] for _ in self.tokens]
        for each in self.contributions:
            rows[each.position].append(each.score)
        return tuple(map(math.fsum, rows))

    def __str__(self) -> str:
        shown, rest = self.contributions[:SHOWN], self.contributions[SHOWN:]
        rows = [(each.score, self._place(each), each.name) for each in shown]
        if rest:
            rows.append((math.fsum(each.score for each in rest), f"{len(rest)} more", ""))
        rows.append((self.difference, "in total", ""))
        width = max(len(place) for _, place, _ in rows)
        lines = [f"{score:+9.3f}  {place:{width}}  {name}".rstrip() for score, place, name in rows]
        return "\n".join([self._head(), *lines])

    def _repr_html_(self) -> str:
        rows = [
            (f"{each.score:+.3f}", text_of(self._place(each)), f"<code>{text_of(each.name)}</code>")
            for each in self.contributions
        ]
        rows.append((f"{self.difference:+.3f}", "in total", ""))
        return FRAGMENT.format(
            style=style(),
            head=text_of(self._head()),
            tokens=" ".join(map(self._token, range(len(self.tokens)))),
            rows=table(("score", "of", "attribute or labels"), rows),
        )

    def _head(self) -> str:
        first, last = self.span
        text, ours, theirs = (" ".join(map(str, each[first:last])) for each in (self.tokens, self.labels, self.against))
        return f"{text}: {ours} against {theirs}"

    def _place(self, each: Contribution) -> str:
        return f"{each.kind} at {each.position} {self.tokens[each.position]}"

    def _token(self, t: int) -> str:
        """Return a token, shaded by its contributions, with its labels."""
        sums = self.by_token()
        sign, share = "minus" if sums[t] < 0.0 else "plus", abs(sums[t]) / (max(map(abs, sums)) or 1.0)
        ours, theirs = text_of(self.labels[t]), text_of(self.against[t])
        label = ours if ours == theirs else f"{ours} <s>{theirs}</s>"
        mark = ' aria-current="true"' if self.span[0] <= t < self.span[1] else ""
        return (
            f'<span class="{sign}" style="--share:{share:.2f}" title="{sums[t]:+.3f}"{mark}>{text_of(self.tokens[t])}'
            f"<small>{label}</small></span>"
        )
