"""Where an estimator's data go: sequences, rows of a template or an encoded corpus, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastcrf.data.corpus_file.reading import EncodedCorpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.boundaries import BoundedAttributes, bounded, without_boundaries
from fastcrf.data.encoding.encoder import NO_ITEMS
from fastcrf.data.files.destinations import CHECKPOINT, check_ours
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import TemplateFile
from fastcrf.fitting.fit import Fit, fit_corpus, fit_model
from fastcrf.fitting.plan import Plan
from fastcrf.model.model import Model
from fastcrf.system.atomic_write import check_replaceable
from fastcrf.training.checkpoint import Checkpoint

PathLike = str | os.PathLike[str]
How = Mapping[str, Any]  # arguments of `fit_corpus`


def fit_sequences(
    X: Any, y: Any, sample_weight: Any, plan: Plan, attributes: Attributes, engine: str | None, how: How,
    partial_labels: bool = False,
) -> Fit:  # fmt: skip
    """Train on sequences of items, or of rows for a template."""
    if y is None:
        raise ValueError(
            "y is None; give one list of labels per sequence of X, or an encoded corpus, which has its own."
        )
    if partial_labels:
        if engine is not None:
            raise ValueError("partial_labels=True is for data in one process; leave engine out.")
        from fastcrf.fitting.partial import fit_partial

        fit = fit_partial(X, y, plan, attributes=attributes, sample_weight=sample_weight, **how)
    elif engine is not None:
        from fastcrf.cluster.training import fit_sequences as fit_there

        fit = fit_there(engine, X, y, plan, attributes, sample_weight, **how)
    else:
        fit = fit_model(X, y, plan, attributes=attributes, sample_weight=sample_weight, **how)
    return fit._replace(model=with_input(fit.model))


def fit_encoded(data: EncodedCorpus, plan: Plan, boundaries: bool, engine: str | None, how: How) -> Fit:
    """Train on an encoded corpus, memory-mapped here or by the workers."""
    if engine is not None:
        from fastcrf.cluster.training import fit_encoded as fit_there

        if boundaries and not isinstance(data.attributes, BoundedAttributes):
            raise ValueError(
                "On a cluster an encoded corpus needs boundaries=True when it is encoded (fastcrf encode "
                "--boundaries); encode it again, or train without an engine."
            )
        fit = fit_there(engine, data, plan, **how)
    else:
        parts = bounded(data.corpus, data.attributes) if boundaries else (data.corpus, data.attributes)
        fit = fit_corpus(*parts, data.labels, plan, **how)
    return fit._replace(model=replace(fit.model, input=data.input))


def no_attributes(template: TemplateFile | None, boundaries: bool) -> Attributes:
    """Return the empty vocabulary of the kind that reads the sequences."""
    attributes = TemplateAttributes.empty(template) if template else NO_ITEMS
    return BoundedAttributes(attributes) if boundaries else attributes


def with_input(model: Model) -> Model:
    """Return the model of a template with a description of its input, so that the command line tags columns with it."""
    attributes = without_boundaries(model.attributes)
    if not isinstance(attributes, TemplateAttributes):
        return model
    return replace(model, input={"kind": "template", "n_columns": attributes.program.n_columns})


def model_of(name: str, given: Any) -> Model | None:
    """Return the model that `init` or `prior` means: a path, a fitted estimator, a model, or None."""
    if given is None or isinstance(given, Model):
        return given
    if isinstance(given, str | os.PathLike):
        return Model.load(given)
    if isinstance(given, type) or not hasattr(type(given), "model_"):
        raise ValueError(f"{name} must be the path of a model, a fitted CRF or a Model; got {name}={given!r}.")
    model: Model = given.model_  # raises NotFittedError
    return model


def open_checkpoint(path: PathLike | None, every: float, resume: bool, random_state: Any) -> Checkpoint | None:
    """Return the checkpoint of a run, after a check that nothing else is lost by writing it."""
    if path is None:
        if resume:
            raise ValueError("resume=True requires a checkpoint; pass checkpoint=PATH.")
        return None
    if random_state is None:
        raise ValueError("random_state=None draws another seed when the run is resumed; set random_state to an int.")
    check_replaceable(path)
    check_ours(path, (CHECKPOINT,), "or remove the file")
    return Checkpoint(path, every, resume)
