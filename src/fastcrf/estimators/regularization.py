"""`regularization_path`: a model for each of many penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcrf.constraints.constraints import Constraints, constraints_of
from fastcrf.constraints.learning import learned
from fastcrf.core.checks import functions
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.estimators.crf import CRF
from fastcrf.estimators.training import no_attributes, with_input
from fastcrf.fitting.fit import choose_features
from fastcrf.fitting.regularization_path import (
    DEFAULT_C2,
    SCORES,
    PathPoint,
    PathScores,
    follow_path,
    penalties,
    problem_of_path,
    weakest_c2,
)
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.model import Model
from fastcrf.model.pruning import named_by, prune
from fastcrf.system.threads import usable_jobs
from fastcrf.training.count_bar import CountBar

Sequences = Iterable[Any]


class Labeled(NamedTuple):
    """Sequences with labels and, for training, weights."""

    X: Any
    y: Any
    sample_weight: Any = None


class Penalties(NamedTuple):
    """What a path goes along, as the user gave it."""

    c1_values: Sequence[float] | int | None
    c2_values: Sequence[float] | None


class RegularizationPath:
    """Models along a regularization path, from the strongest penalty to the weakest.

    Attributes
    ----------
    c1, c2 : ndarrays of float
        The penalties.
    objective : ndarray of float
        Objective of each model.
    relative_gap : ndarray of float
        Certified relative gap to the optimum of each model.
    n_nonzero : ndarray of int
        Number of weights that are not 0.
    norm : ndarray of float
        Euclidean norm of the weights of each model.
    passes, seconds : ndarrays of float
        Passes over the data, and seconds in the solver, that each model took from the one before.
    scores : dict of ndarrays of float
        Scores on held-out data: "likelihood" (mean log-likelihood per token), "accuracy" and "segment_f1". Empty
        without such data.
    """

    def __init__(
        self,
        points: Sequence[PathPoint],
        attributes: Attributes,
        features: FeatureMap,
        labels: Sequence[Any],
        constraints: Constraints | None = None,
    ) -> None:
        self.c1, self.c2 = floats(points, "c1"), floats(points, "c2")
        self.objective, self.relative_gap = floats(points, "objective"), floats(points, "relative_gap")
        self.n_nonzero = np.array([point.n_nonzero for point in points], np.int64)
        self.norm = np.array([np.linalg.norm(point.weights) for point in points])
        self.passes, self.seconds = floats(points, "passes"), floats(points, "seconds")
        known = points[0].scores if points else {}
        self.scores = {name: np.array([point.scores[name] for point in points]) for name in known}
        self._weights = [point.weights for point in points]
        self._parts = attributes, features, labels, constraints

    def __len__(self) -> int:
        return len(self._weights)

    def model(self, k: int) -> Model:
        """Return the trained model of penalty k.

        Parameters
        ----------
        k : int
            Place of the penalty in `c1` and `c2`.

        Returns
        -------
        Model
            The model, which predicts and is saved as any other.
        """
        attributes, features, labels, constraints = self._parts
        pruned = prune(attributes, features, self._weights[k], named_by(constraints, attributes))
        return with_input(Model(list(labels), *pruned, constraints=constraints))


def floats(points: Sequence[PathPoint], name: str) -> Floats:
    return np.array([getattr(point, name) for point in points], np.float64)


def regularization_path(
    X: Sequences,
    y: Sequences,
    *,
    estimator: CRF | None = None,
    c2_values: Sequence[float] | None = None,
    c1_values: Sequence[float] | int | None = None,
    X_dev: Sequences | None = None,
    y_dev: Sequences | None = None,
) -> RegularizationPath:
    """Train along a grid of penalties, each model from the one before, as `CRF.fit` would train each of them.

    Parameters
    ----------
    X : iterable of sequences
        As for `CRF.fit`.
    y : iterable of sequences of labels
        One label per token.
    estimator : CRF, default=None
        Supplies every other parameter, and the penalty that stays fixed; limits apply to each model; `verbose` shows a
        bar. The path is trained in this process, without `engine`. None: ``CRF(c2=0.0)``.
    c2_values : sequence of float, default=None
        L2 penalties, for a fixed c1. None: ten values from 10 to 0.01, unless `c1_values` is given.
    c1_values : sequence of float or int, default=None
        L1 penalties, for a fixed c2. A whole number: so many, from the largest useful one down.
    X_dev, y_dev : iterables, default=None
        Held-out data, for `scores`.

    Returns
    -------
    RegularizationPath
        Models, objectives and scores, from the strongest penalty to the weakest.

    Raises
    ------
    DataError
        If the data cannot be used.
    ValueError
        If parameters do not fit together; PenaltyError if the algorithm cannot handle a penalty of the path.

    Examples
    --------
    >>> from fastcrf import CRF, regularization_path
    >>> X = [[{"word": "31", "digit": True}, {"word": "Elm"}], [{"word": "Paris"}]] * 5
    >>> y = [["Number", "Street"], ["City"]] * 5
    >>> path = regularization_path(X, y, estimator=CRF(order=2), c2_values=[1.0, 0.1])
    >>> path.model(1).predict(X[:1])
    [['Number', 'Street']]
    """
    if (X_dev is None) != (y_dev is None):
        raise ValueError("Pass both X_dev and y_dev to use held-out data, or neither.")
    base = base_of(estimator)
    held_out = None if X_dev is None or y_dev is None else Labeled(X_dev, y_dev)
    grid = Penalties(c1_values, c2_values)
    with announce_compilation():
        bar = CountBar("path", number_of_penalties(grid), quiet=not base.verbose)
        with bar:
            return train_path(
                base, Labeled(X, y), held_out, grid=grid, n_jobs=usable_jobs(base.n_jobs), done=bar.advance
            )


def number_of_penalties(grid: Penalties) -> int:
    """Return how many models a path will have."""
    if isinstance(grid.c1_values, int):
        return grid.c1_values
    given = grid.c2_values if grid.c1_values is None else grid.c1_values
    return int(np.size(DEFAULT_C2 if given is None else given))  # what is no sequence raises an error later


def base_of(estimator: CRF | None) -> CRF:
    """Return the estimator that supplies all but the penalty of the path; by default the other penalty is 0."""
    return CRF(c2=0.0) if estimator is None else estimator


def train_path(
    base: CRF,
    data: Labeled,
    held_out: Labeled | None,
    *,
    grid: Penalties,
    n_jobs: int,
    wanted: Iterable[str] = SCORES,
    along: Sequence[tuple[float, float]] | None = None,
    done: Callable[[], None] = lambda: None,
) -> RegularizationPath:
    """Train along a grid, or the penalties `along` that it stands for, with all other parameters of `base`."""
    template, weakest = base._template(), weakest_c2(*grid, base.c2)
    plan = base._plan(c2=weakest, engine=None, **({} if grid.c1_values is None else {"c1": 1.0}))
    if plan.early_stopping:
        raise ValueError(f"A path does not stop at held-out scores; remove {plan.early_stopping!r} from stopping.")
    if base.constrained_training:
        raise ValueError("A path trains over all label sequences; set constrained_training=False, or use CRF.")
    known = no_attributes(template, base.boundaries)
    corpus, learnt, labels = encode_training(*data, known=known)
    options = base._feature_options(template)
    corpus, learnt, features = choose_features(corpus, learnt, labels, base.min_count, options)
    scores = None
    if held_out:
        encoded = Encoder(learnt).encode_labeled(held_out.X, held_out.y, labels)
        scores = PathScores(encoded, features, labels, wanted)
    problem = problem_of_path(plan.solver, corpus, features, weakest, n_jobs)
    if along is None:
        along = penalties(problem, *grid, base.c1, base.c2)
    points = follow_path(
        problem,
        along,
        lambda **penalty: base._plan(**penalty, engine=None),
        held_out=scores,
        callbacks=functions("callbacks", base.callbacks),
        done=done,
    )
    constraints = constraints_of(base.constraints)
    if constraints is not None:
        constraints = learned(constraints, corpus, labels, learnt.names)
    return RegularizationPath(points, learnt, features, labels, constraints)
