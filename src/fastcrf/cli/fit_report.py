"""What `train` and `demo` make of a fit: a saved model, and the story as one dict (for --json) or in words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fastcrf.training.fitting import DEV_SCORE, Fit
from fastcrf.training.plan import Plan


def save(fit: Fit, kind_of_input: dict[str, Any], path: str) -> None:
    """Save the model of a run that learnt something; it remembers what its input looks like."""
    if fit.result.status == "diverged":
        raise ValueError(f"Training diverged, and no model was saved. {fit.result.reason}")
    if fit.result.status == "interrupted" and not fit.result.n_steps:
        raise ValueError("Interrupted before the first step, so there was nothing to save.")
    replace(fit.model, input=kind_of_input).save(path)


def outcome_of(fit: Fit, plan: Plan) -> dict[str, Any]:
    """What there is to know of a fit, in numbers and words that JSON can hold."""
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
        "relative_gap": result.certificate.relative,
        "certificate": str(result.certificate),
        "steps": result.n_steps,
        "passes": last["passes"],
        "seconds": last["seconds"],
        DEV_SCORE: last.get(DEV_SCORE),
        "labels": len(fit.model.labels),
        "attributes": len(fit.model.attributes),
        "weights": len(fit.model.weights),
    }
    return {name: None if is_no_number(value) else value for name, value in outcome.items()}


def is_no_number(value: Any) -> bool:
    """Whether JSON has no number for it."""
    return isinstance(value, float) and not math.isfinite(value)


def outcome_in_words(outcome: dict[str, Any]) -> str:
    """The same for people."""
    lines = {
        "objective": f"{outcome['objective']:,.4f}" if outcome["objective"] is not None else "",
        "certificate": outcome["certificate"],
        "status": f"{outcome['status']}: {outcome['reason']}",
        "training": f"{outcome['algorithm']} (c1={outcome['c1']:g}, c2={outcome['c2']:g}), {outcome['steps']:,} steps, "
        f"{outcome['passes']:.6g} passes over the data, {outcome['seconds']:.2f} s",
        "held-out": f"{outcome[DEV_SCORE]:.2%} of the tokens are correct" if outcome[DEV_SCORE] is not None else "",
        "model": f"{outcome['labels']:,} labels, {outcome['attributes']:,} attributes, {outcome['weights']:,} weights; "
        f"saved in {outcome['model']}",
    }
    return "\n".join(f"{name:13}{text}" for name, text in lines.items() if text)
