"""An earlier model as the mean of the penalty: what new data do not speak about stays as that model has it.

The penalty is c2 |w - prior|^2. Weights are matched by the names of attributes and labels. Features of the prior that
the new data do not give rise to are also part of the new model: where nothing of them occurs, their weights stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.feature_space.feature_union import merge
from fastcrf.fitting.plan import Plan
from fastcrf.model.model import Model
from fastcrf.penalties.regularizer import check_prior


def check_plan(plan: Plan) -> None:
    """Raise one sentence if what is planned cannot have a prior. Reads no data."""
    if "l2" not in plan.solver.handles:
        raise ValueError(
            f"A prior is the mean of an L2 penalty alone, which {plan.solver.name} does not have; use auto or lbfgs "
            "with c1=0 and c2 > 0."
        )
    check_prior(plan.c1, plan.c2)


def known_attributes(prior: Model, attributes: Attributes) -> Attributes:
    """The prior's attributes, where it reads the data as they are to be read."""
    if not prior.attributes.reads_like(attributes):
        raise ValueError(
            f"The prior makes its attributes of other data ({prior.attributes.kind}, here {attributes.kind}) or by "
            "another template; train with the prior's template, or without a prior."
        )
    return prior.attributes


def check_numbers(prior: Model, attributes: Attributes, labels: Sequence[Any]) -> None:
    """Raise one sentence unless the first attributes and labels are the prior's."""
    names = prior.attributes.names()
    if labels[: len(prior.labels)] != prior.labels or attributes.names()[: len(names)] != names:
        raise ValueError(
            "A prior needs data that are encoded with its attributes; train on the sequences themselves, not on a "
            "corpus that was encoded without it."
        )


def with_features_of(prior: FeatureMap, features: FeatureMap) -> FeatureMap:
    """All features of both, which number attributes and labels alike; the prior has the first of each."""
    if prior.order > features.order:
        raise ValueError(f"The prior is a chain of order {prior.order}; also train with order={prior.order}.")
    return merge(prior, features)[0]
