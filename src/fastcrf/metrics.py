"""How good the labels are: by token, by sequence and by segment.

The `flat_*` functions and `sequence_accuracy_score` have the names and the values of `sklearn_crfsuite.metrics`;
precision, recall, F and the report are scikit-learn's, imported when they are called. `segment_scores` is conlleval's
count of segments and needs nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "SegmentScore",
    "SegmentScores",
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "segment_scores",
    "segments",
    "sequence_accuracy_score",
]

Label = Hashable
Sequences = Iterable[Iterable[Label]]  # labels, sequence by sequence
Segment = tuple[Label, int, int]  # type, first position, position after the last

OUTSIDE = "O"
MARK = re.compile(r"([BIESLU])-(.*)", re.DOTALL)
BARE_MARKS = frozenset("BIESLUO")


class SegmentScore(NamedTuple):
    """Scores of segments. A segment is correct if its type, its first and its last token are.

    Parameters
    ----------
    precision, recall, f1 : float
        Correct segments among the predicted ones, among the true ones, and the harmonic mean of the two.
    n_true, n_predicted, n_correct : int
        Number of segments.
    """

    precision: float
    recall: float
    f1: float
    n_true: int
    n_predicted: int
    n_correct: int


class SegmentScores(NamedTuple):
    """The scores of all segments, and those of each type.

    Parameters
    ----------
    overall : SegmentScore
        The scores of all segments.
    by_type : dict of SegmentScore
        The scores by type.
    """

    overall: SegmentScore
    by_type: dict[Label, SegmentScore]


def flat_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Compute the fraction of tokens with the correct label (0 for empty input).

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.

    Returns
    -------
    float
        The token accuracy.
    """
    true, predicted = flatten(y_true, y_pred)
    return sum(a == b for a, b in zip(true, predicted, strict=True)) / len(true) if true else 0.0


def flat_precision_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Compute the precision of the labels of tokens.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.
    **options
        Options of `sklearn.metrics.precision_score`, such as `average` and `labels`.

    Returns
    -------
    float or ndarray of float
        The score; an array for ``average=None``.
    """
    return _label_score("precision_score", y_true, y_pred, options)


def flat_recall_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Compute the recall of the labels of tokens.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.
    **options
        Options of `sklearn.metrics.recall_score`, such as `average` and `labels`.

    Returns
    -------
    float or ndarray of float
        The score; an array for ``average=None``.
    """
    return _label_score("recall_score", y_true, y_pred, options)


def flat_f1_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Compute the F1 of the labels of tokens.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.
    **options
        Options of `sklearn.metrics.f1_score`, such as `average` and `labels`.

    Returns
    -------
    float or ndarray of float
        The score; an array for ``average=None``.
    """
    return _label_score("f1_score", y_true, y_pred, options)


def flat_fbeta_score(y_true: Sequences, y_pred: Sequences, beta: float, **options: Any) -> Any:
    """Compute the F-beta of the labels of tokens.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.
    beta : float
        Weight of recall against precision.
    **options
        Options of `sklearn.metrics.fbeta_score`, such as `average` and `labels`.

    Returns
    -------
    float or ndarray of float
        The score; an array for ``average=None``.
    """
    return _label_score("fbeta_score", y_true, y_pred, {"beta": beta, **options})


def flat_classification_report(
    y_true: Sequences, y_pred: Sequences, labels: Sequence[Label] | None = None, **options: Any
) -> Any:
    """Format precision, recall and F1 of each label as a table.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.
    labels : sequence of labels
        The labels to show. None: all.
    **options
        Options of `sklearn.metrics.classification_report`, such as `digits`.

    Returns
    -------
    str
        The table; a dict with ``output_dict=True``.
    """
    from sklearn import metrics

    return metrics.classification_report(*flatten(y_true, y_pred), labels=labels, **options)


def sequence_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Compute the fraction of sequences with all labels correct (0 for empty input).

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels. A sequence of another length counts as wrong.

    Returns
    -------
    float
        The sequence accuracy.
    """
    true, predicted = _as_many(y_true, y_pred)
    return sum(a == b for a, b in zip(true, predicted, strict=True)) / len(true) if true else 0.0


def segment_scores(y_true: Sequences, y_pred: Sequences) -> SegmentScores:
    """Compute precision, recall and F1 of segments, as conlleval and seqeval's default mode count them.

    `segments` says how labels are read as segments. A quotient with denominator 0 is 0.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.

    Returns
    -------
    SegmentScores
        The scores over all segments, and by type.
    """
    true, predicted = _aligned(y_true, y_pred)
    bare = marks_are_bare(label for sequence in (*true, *predicted) for label in sequence)
    there, found, right = Counter[Label](), Counter[Label](), Counter[Label]()
    for gold, guess in zip(true, predicted, strict=True):
        gold_segments, guessed_segments = set(segments(gold, bare)), set(segments(guess, bare))
        there.update(kind for kind, _, _ in gold_segments)
        found.update(kind for kind, _, _ in guessed_segments)
        right.update(kind for kind, _, _ in gold_segments & guessed_segments)
    kinds = sorted(there.keys() | found.keys(), key=str)
    by_type = {kind: _segment_score(there[kind], found[kind], right[kind]) for kind in kinds}
    return SegmentScores(_segment_score(there.total(), found.total(), right.total()), by_type)


def segment_f1_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Compute the F1 of all segments (0 for empty input), as conlleval counts them.

    Parameters
    ----------
    y_true : iterable of sequences of labels
        The true labels.
    y_pred : iterable of sequences of labels
        The predicted labels, of the same lengths.

    Returns
    -------
    float
        F1 over segments of all types.
    """
    return segment_scores(y_true, y_pred).overall.f1


def segments(labels: Sequence[Label], bare: bool = False) -> list[Segment]:
    """Return the segments of one sequence.

    "O" is outside. "B-x", "I-x", "E-x" and "S-x" (also "L-x" for E, "U-x" for S) begin, continue, end and are a segment
    of type x. A segment also begins where the type changes, or after "O", an end or a single, whatever the mark says:
    this reads IOB1, IOB2, IOBES and BILOU, and labels that break their scheme. A label without such a mark is a type of
    its own, and its segments are its maximal runs.

    Parameters
    ----------
    labels : sequence of labels
        The labels of a sequence.
    bare : bool, default=False
        Whether the labels are marks without a type, such as "B" and "I".

    Returns
    -------
    list of (type, int, int)
        Type, first position and last position + 1 of each segment.
    """
    found: list[Segment] = []
    start, mark_before, kind_before = 0, OUTSIDE, None
    for t, label in enumerate([*labels, OUTSIDE]):
        mark, kind = mark_and_type(label, bare)
        begins = mark in "BSU" or mark_before in "OESLU" or kind != kind_before
        if mark_before != OUTSIDE and (mark == OUTSIDE or begins):
            found.append((kind_before, start, t))
        if mark != OUTSIDE and begins:
            start = t
        mark_before, kind_before = mark, kind
    return found


def flatten(y_true: Sequences, y_pred: Sequences) -> tuple[list[Label], list[Label]]:
    """The labels of all sequences in one row each, after a check that they belong together."""
    true, predicted = _aligned(y_true, y_pred)
    return [label for sequence in true for label in sequence], [label for sequence in predicted for label in sequence]


def _aligned(y_true: Sequences, y_pred: Sequences) -> tuple[list[list[Label]], list[list[Label]]]:
    """Both as lists of lists; sequences that do not match would be compared with their neighbors' labels."""
    true, predicted = _as_many(y_true, y_pred)
    for i, (a, b) in enumerate(zip(true, predicted, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"Sequence {i} has {len(a)} labels in y_true and {len(b)} in y_pred; give one per token.")
    return true, predicted


def _as_many(y_true: Sequences, y_pred: Sequences) -> tuple[list[list[Label]], list[list[Label]]]:
    """Both as lists of lists, one for each sequence."""
    true, predicted = _as_lists(y_true, "y_true"), _as_lists(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(
            f"y_true has {len(true)} sequences and y_pred has {len(predicted)}; give both for the same data."
        )
    return true, predicted


def _as_lists(y: Sequences, name: str) -> list[list[Label]]:
    sequences = list(y)
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str) or not isinstance(sequence, Iterable):
            raise ValueError(
                f"{name}[{i}] is {sequence!r}, but it must be a sequence of labels; give a list of lists of labels."
            )
    return [list(sequence) for sequence in sequences]


def _label_score(name: str, y_true: Sequences, y_pred: Sequences, options: dict[str, Any]) -> Any:
    from sklearn import metrics

    true, predicted = flatten(y_true, y_pred)
    if options.get("average", "binary") == "binary":
        _require_positive_label(name, set(true) | set(predicted), options.get("pos_label", 1))
    return getattr(metrics, name)(true, predicted, **options)


def _require_positive_label(name: str, labels: set[Label], positive: Label) -> None:
    """scikit-learn's default counts the label 1 of two; say what to do when there is no such thing."""
    if len(labels) > 2 or (len(labels) == 2 and positive not in labels):
        some = ", ".join(repr(label) for label in sorted(labels, key=str)[:4]) + (", ..." if len(labels) > 4 else "")
        raise ValueError(
            f"flat_{name} does not know which of the labels {some} to count; give average='weighted' (or 'micro', "
            f"'macro', None), or, when there are two labels, the one that counts as pos_label."
        )


def marks_are_bare(labels: Iterable[Label]) -> bool:
    """True of labels such as B, I, O; a B must be there, for E and S alone may well be east and south."""
    distinct = set(labels)
    return "B" in distinct and distinct <= BARE_MARKS


def mark_and_type(label: Label, bare: bool) -> tuple[str, Label]:
    """The mark of a label (B, I, O ...) and the type of segment that it belongs to."""
    if label == OUTSIDE:
        return OUTSIDE, None
    if bare:
        return str(label), "_"
    match = MARK.fullmatch(label) if isinstance(label, str) else None
    return (match[1], match[2]) if match else ("I", label)


def _segment_score(n_true: int, n_predicted: int, n_correct: int) -> SegmentScore:
    precision = n_correct / n_predicted if n_predicted else 0.0
    recall = n_correct / n_true if n_true else 0.0
    f1 = 2 * n_correct / (n_true + n_predicted) if n_correct else 0.0
    return SegmentScore(precision, recall, f1, n_true, n_predicted, n_correct)
