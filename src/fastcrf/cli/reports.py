"""Reports of a fit and of scores, for people and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastcrf.cli.command_errors import as_options
from fastcrf.fitting.fit import DEV_SCORES, Fit
from fastcrf.fitting.plan import Plan
from fastcrf.metrics import Label, SegmentScore, flat_accuracy_score, segment_scores, sequence_accuracy_score


def save(fit: Fit, kind_of_input: dict[str, Any], path: str) -> None:
    """Save the model of a run that learnt something; it remembers what its input looks like."""
    if fit.result.status == "diverged":
        raise ValueError(f"Training diverged, and no model was saved. {fit.result.reason}")
    if fit.result.status == "interrupted" and not fit.result.n_steps:
        raise ValueError("Interrupted before the first iteration; no model was saved.")
    replace(fit.model, input=kind_of_input).save(path)


def outcome_of(fit: Fit, plan: Plan) -> dict[str, Any]:
    """Return the outcome of a fit in numbers and text that JSON can hold."""
    result, last = fit.result, fit.result.trace[-1]
    outcome = {
        "algorithm": plan.solver.name,
        "c1": plan.c1,
        "c2": plan.c2,
        "status": result.status,
        "reason": result.reason,
        "converged": fit.converged,
        "objective": result.certificate.objective,
        "gap": result.certificate.gap,
        "relative_gap": result.certificate.relative_gap,
        "certificate": str(result.certificate),
        "steps": result.n_steps,
        "passes": last["passes"],
        "seconds": last["seconds"],
        **{column: last.get(column) for column in DEV_SCORES},
        "labels": len(fit.model.labels),
        "attributes": len(fit.model.attributes),
        "weights": len(fit.model.weights),
    }
    return {name: None if is_no_number(value) else value for name, value in outcome.items()}


def is_no_number(value: Any) -> bool:
    """Return whether JSON has no number for a value."""
    return isinstance(value, float) and not math.isfinite(value)


def outcome_in_words(outcome: dict[str, Any]) -> str:
    """Return the same as text."""
    lines = {
        "objective": f"{outcome['objective']:,.4f}" if outcome["objective"] is not None else "",
        "certificate": outcome["certificate"],
        "status": f"{outcome['status']}: {as_options(outcome['reason'])}",
        "training": f"{outcome['algorithm']} (c1={outcome['c1']:g}, c2={outcome['c2']:g}), "
        f"{outcome['steps']:,} iterations, {outcome['passes']:.6g} passes over the data, {outcome['seconds']:.2f} s",
        "held-out": held_out_in_words(*(outcome[column] for column in DEV_SCORES)),
        "model": f"{outcome['labels']:,} labels, {outcome['attributes']:,} attributes, {outcome['weights']:,} weights; "
        f"saved in {outcome['model']}",
    }
    return "\n".join(f"{name:13}{text}" for name, text in lines.items() if text)


def held_out_in_words(accuracy: float | None, segment_f1: float | None) -> str:
    return "" if accuracy is None else f"token accuracy {accuracy:.2%}, segment F1 {segment_f1:.2%}"


Labels = Sequence[Sequence[Label]]


def scores_of(y_true: Labels, y_pred: Labels) -> dict[str, Any]:
    """Compute the accuracy of tokens and sequences, and precision, recall and F1 of segments, overall and by type."""
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
    """Return the main scores, one per line."""
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
    """Return a table of precision, recall and F1 of the segments of each type."""
    types = {kind: SegmentScore(**score) for kind, score in scores["types"].items()}
    width = max(map(len, ("type", *types)))
    lines = [f"{'type':{width}}  precision   recall       F1  segments"]
    lines += [f"{k:{width}}  {s.precision:9.2%}  {s.recall:7.2%}  {s.f1:7.2%}  {s.n_true:8,}" for k, s in types.items()]
    return "\n".join(lines)
