"""Choosing the penalty: `path` trains for many, `CRFCV` chooses one by cross-validation and trains with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import clone

from fastcrf.core.checks import one_of, whole
from fastcrf.data.encoding.boundaries import BoundedAttributes
from fastcrf.data.encoding.encoder import NO_ITEMS, Encoder, encode_training
from fastcrf.estimators.base import TrainedEstimator
from fastcrf.estimators.crf import CRF
from fastcrf.estimators.training import no_attributes
from fastcrf.features.feature_map import build_feature_map
from fastcrf.fitting.plan import DEFAULT_TOL
from fastcrf.fitting.regularization_path import (
    SCORES,
    HeldOutScores,
    PathPoint,
    follow_path,
    penalties,
    problem_of_path,
    weakest_c2,
)
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.model import Model
from fastcrf.model.pruning import prune
from fastcrf.system.threads import usable_jobs

Sequences = Iterable[Any]


class RegularizationPath:
    """What `path` returns. Arrays have a place for each penalty, from the strongest to the weakest:

    c1, c2, objective, relative_gap (certified), active (weights that are not zero), passes, seconds; `scores` holds
    those on held-out data by name, if there are any. `model(k)` is the model of penalty k, ready to tag.
    """

    def __init__(self, points: Sequence[PathPoint], attributes: Any, features: Any, labels: Sequence[Any]) -> None:
        self.points = list(points)
        self._parts = attributes, features, labels
        for name in ("c1", "c2", "objective", "relative_gap", "active", "passes", "seconds"):
            setattr(self, name, np.array([getattr(point, name) for point in self.points]))
        known = self.points[0].scores if self.points else {}
        self.scores = {name: np.array([point.scores[name] for point in self.points]) for name in known}

    def __len__(self) -> int:
        return len(self.points)

    def model(self, k: int) -> Model:
        """The trained model of penalty k."""
        attributes, features, labels = self._parts
        return Model(list(labels), *prune(attributes, features, self.points[k].weights))


def path(
    X: Sequences,
    y: Sequences,
    *,
    c2_values: Sequence[float] | None = None,
    c1_values: Sequence[float] | int | None = None,
    c1: float = 0.0,
    c2: float = 0.0,
    X_dev: Sequences | None = None,
    y_dev: Sequences | None = None,
    tol: float = DEFAULT_TOL,
    n_jobs: int | None = None,
    boundaries: bool = False,
    **features: Any,
) -> RegularizationPath:
    """Train for many penalties, each from the weights of the one before, to the same certified gap.

    c2_values: penalties |w|^2, with c1 fixed (by default ten from 10 to 0.01); or
    c1_values: penalties |w|_1, with c2 fixed; a whole number means so many, from the largest useful one down;
    X_dev, y_dev: held-out data, for `scores`; boundaries: as of CRF;
    features: arguments of `build_feature_map`, such as min_freq or order.
    """
    if (X_dev is None) != (y_dev is None):
        raise ValueError("Pass both X_dev and y_dev to use held-out data, or neither.")
    with announce_compilation():
        known = BoundedAttributes(NO_ITEMS) if boundaries else NO_ITEMS
        corpus, attributes, labels = encode_training(X, y, known=known)
        feature_map = build_feature_map(corpus, len(attributes), len(labels), **features)
        weakest = weakest_c2(c1_values, c2_values, c2)
        problem = problem_of_path(corpus, feature_map, weakest, usable_jobs(n_jobs))
        held_out = None
        if X_dev is not None and y_dev is not None:
            held_out = HeldOutScores(Encoder(attributes).encode_labeled(X_dev, y_dev, labels), feature_map, labels)
        along = penalties(problem, c1_values, c2_values, c1, c2)
        points = follow_path(problem, along, tol=tol, held_out=held_out)
    return RegularizationPath(points, attributes, feature_map, labels)


class CRFCV(TrainedEstimator):
    """A CRF whose penalty is chosen by cross-validation along a warm-started path, by scikit-learn's ...CV convention.

    estimator: a CRF, for everything but the penalty (default CRF()).
    c2_values, c1_values: the path, as of `fastcrf.path`; the other penalty is that of `estimator`, or 0.
    cv: number of folds; scoring: "likelihood" (mean log-likelihood a token), "accuracy" or "segment_f1".
    n_jobs: threads; folds run side by side.

    After `fit`: `c1_`, `c2_`, `best_score_`, `best_estimator_` (trained on all data with them), `c1_values_`,
    `c2_values_`, `cv_scores_` [values, folds] and `active_` (mean number of weights that are not zero).
    """

    def __init__(
        self,
        estimator: CRF | None = None,
        *,
        c2_values: Sequence[float] | None = None,
        c1_values: Sequence[float] | int | None = None,
        cv: int = 5,
        scoring: str = "likelihood",
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.c2_values = c2_values
        self.c1_values = c1_values
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Sequences, y: Sequences) -> CRFCV:
        """Choose the penalty, and train with it on all of X."""
        X, y = list(X), list(y)
        self.choose(X, y)
        base = self._base()
        self.best_estimator_ = clone(base).set_params(c1=self.c1_, c2=self.c2_).fit(X, y)
        return self

    def choose(self, X: list[Any], y: list[Any]) -> CRFCV:
        """Choose the penalty, and train no model with it."""
        base = self._base()
        one_of("scoring", self.scoring, SCORES)
        folds = self._folds(len(y))
        threads = min(usable_jobs(self.n_jobs), len(folds))
        runs = [fold_path(base, X, y, held, self, max(1, usable_jobs(self.n_jobs) // threads)) for held in folds[:1]]
        along = [(point.c1, point.c2) for point in runs[0]]  # the penalties of the first fold are those of all
        with ThreadPoolExecutor(threads, "fastcrf") as pool:
            runs += pool.map(lambda held: fold_path(base, X, y, held, self, 1, along), folds[1:])
        self.cv_scores_ = np.array([[point.scores[self.scoring] for point in run] for run in runs]).T
        self.active_ = np.mean([[point.active for point in run] for run in runs], axis=0)
        self.c1_values_, self.c2_values_ = (np.array(values) for values in zip(*along, strict=True))
        best = int(self.cv_scores_.mean(axis=1).argmax())  # of equal ones the strongest penalty, which comes first
        self.c1_, self.c2_ = along[best]
        self.best_score_ = float(self.cv_scores_[best].mean())
        return self

    def _base(self) -> CRF:
        """Return the estimator without the penalty that is chosen; without an estimator the other penalty is 0."""
        return CRF(c2=0.0) if self.estimator is None else self.estimator

    def _folds(self, n: int) -> list[np.ndarray]:
        """The sequences held out in each fold, at random by `random_state`."""
        n_folds = whole("cv", self.cv, 2)
        if n < n_folds:
            raise ValueError(f"cv={n_folds} needs at least as many sequences; there are {n}.")
        return [
            np.sort(fold) for fold in np.array_split(np.random.default_rng(self.random_state).permutation(n), n_folds)
        ]

    @property
    def model_(self) -> Model:
        """The model of `best_estimator_`."""
        return self.best_estimator_.model_


def fold_path(
    base: CRF,
    X: list[Any],
    y: list[Any],
    held: np.ndarray,
    search: CRFCV,
    n_jobs: int,
    along: list[tuple[float, float]] | None = None,
) -> list[PathPoint]:
    """The path on all sequences but those `held` out, which score it."""
    out = set(held.tolist())
    kept = [i for i in range(len(y)) if i not in out]
    without = [X[i] for i in kept], [y[i] for i in kept]
    corpus, attributes, labels = encode_training(*without, known=no_attributes(None, base.boundaries))
    features = build_feature_map(corpus, len(attributes), len(labels), **base._feature_options())
    weakest = weakest_c2(search.c1_values, search.c2_values, base.c2)
    problem = problem_of_path(corpus, features, weakest, n_jobs)
    encoded = Encoder(attributes).encode_labeled([X[i] for i in held], [y[i] for i in held], labels)
    if along is None:
        along = penalties(problem, search.c1_values, search.c2_values, base.c1, base.c2)
    scores = HeldOutScores(encoded, features, labels)
    tol = DEFAULT_TOL if base.tol is None else base.tol
    return follow_path(problem, along, tol=tol, held_out=scores, wanted=[search.scoring])
