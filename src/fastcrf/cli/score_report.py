"""What `evaluate` and `demo` say of labels: the scores as one dict (for --json), and the same in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastcrf.metrics import (
    Label,
    SegmentScore,
    flat_accuracy_score,
    segment_scores,
    sequence_accuracy_score,
)

Labels = Sequence[Sequence[Label]]


def scores_of(y_true: Labels, y_pred: Labels) -> dict[str, Any]:
    """Accuracy of tokens and sequences, and precision, recall and F1 of segments, over all and by type."""
    found = segment_scores(y_true, y_pred)
    return {
        "sequences": len(y_true),
        "tokens": sum(map(len, y_true)),
        "token_accuracy": flat_accuracy_score(y_true, y_pred),
        "sequence_accuracy": sequence_accuracy_score(y_true, y_pred),
        "segments": found.overall._asdict(),
        "types": {str(kind): score._asdict() for kind, score in found.by_type.items()},
    }


def scores_in_words(scores: dict[str, Any]) -> str:
    """The scores that everybody reads first, one a line."""
    overall = SegmentScore(**scores["segments"])
    return "\n".join(
        [
            f"token accuracy     {scores['token_accuracy']:7.2%}  of {scores['tokens']:,} tokens",
            f"sequence accuracy  {scores['sequence_accuracy']:7.2%}  of {scores['sequences']:,} sequences",
            f"segment F1         {overall.f1:7.2%}  of {overall.n_true:,} segments "
            f"(precision {overall.precision:.2%}, recall {overall.recall:.2%})",
        ]
    )


def types_in_words(scores: dict[str, Any]) -> str:
    """A table: precision, recall and F1 of the segments of each type."""
    types = {kind: SegmentScore(**score) for kind, score in scores["types"].items()}
    width = max(map(len, ("type", *types)))
    lines = [f"{'type':{width}}  precision   recall       F1  segments"]
    lines += [f"{k:{width}}  {s.precision:9.2%}  {s.recall:7.2%}  {s.f1:7.2%}  {s.n_true:8,}" for k, s in types.items()]
    return "\n".join(lines)
