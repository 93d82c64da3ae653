"""`CRFCV`: a CRF whose penalty is selected by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv

from fastcrf.core.checks import one_of, seed_of, whole
from fastcrf.core.types import Longs
from fastcrf.data.encoding.input_shapes import checked_weights
from fastcrf.estimators.base import TrainedEstimator
from fastcrf.estimators.crf import CRF
from fastcrf.estimators.regularization import (
    Labeled,
    Penalties,
    RegularizationPath,
    Sequences,
    base_of,
    number_of_penalties,
    train_path,
)
from fastcrf.exceptions import DataError
from fastcrf.fitting.regularization_path import SCORES
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.model import Model
from fastcrf.system.threads import usable_jobs
from fastcrf.training.count_bar import CountBar

Fold = tuple[Longs, Longs]  # the sequences to train on, and those held out


class CRFCV(TrainedEstimator):
    """A CRF whose penalty is selected by cross-validation along a regularization path.

    Parameters
    ----------
    estimator : CRF, default=None
        Supplies every other parameter, and the penalty that stays fixed; `verbose` shows a bar. The folds are trained
        in this process, without `engine`. None: ``CRF(c2=0.0)``.
    c2_values : sequence of float, default=None
        L2 penalties, for a fixed c1. None: ten values from 10 to 0.01, unless `c1_values` is given.
    c1_values : sequence of float or int, default=None
        L1 penalties, for a fixed c2. A whole number: so many, from the largest useful one down.
    cv : int, splitter or iterable, default=5
        Number of folds, drawn at random; or a splitter of scikit-learn; or pairs of indices (train, test).
    scoring : {"likelihood", "accuracy", "segment_f1"}, default="likelihood"
        Score of held-out sequences: mean log-likelihood per token, token accuracy, or F1 of segments.
    refit : bool, default=True
        Whether to train on all data with the selected penalty.
    n_jobs : int or None, default=None
        Number of threads, in which folds run side by side. None: all cores, 1 inside a joblib worker.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the folds, where `cv` is a number.

    Attributes
    ----------
    c1_, c2_ : float
        The selected penalty.
    best_score_ : float
        Its mean score.
    best_estimator_ : CRF
        Trained on all data with the selected penalty, if `refit`.
    c1_values_, c2_values_ : ndarrays of float
        The penalties, from the strongest to the weakest.
    scores_ : ndarray of float of shape (n_values, n_folds)
        Held-out scores, higher is better.
    n_nonzero_ : ndarray of float of shape (n_values,)
        Mean number of weights that are not 0.

    See Also
    --------
    regularization_path : Train along a grid of penalties.
    sklearn.model_selection.GridSearchCV : Select any parameters of a CRF.

    Examples
    --------
    >>> from fastcrf import CRF, CRFCV
    >>> X = [[{"word": "31", "digit": True}, {"word": "Elm"}], [{"word": "Paris"}]] * 5
    >>> y = [["Number", "Street"], ["City"]] * 5
    >>> search = CRFCV(CRF(order=2), c2_values=[1.0, 0.1], cv=3).fit(X, y)
    >>> search.c2_
    0.1
    >>> search.predict(X[:1])
    [['Number', 'Street']]
    """

    def __init__(
        self,
        estimator: CRF | None = None,
        *,
        c2_values: Sequence[float] | None = None,
        c1_values: Sequence[float] | int | None = None,
        cv: int | Any = 5,
        scoring: str = "likelihood",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
    ) -> None:
        self.estimator = estimator
        self.c2_values = c2_values
        self.c1_values = c1_values
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Sequences, y: Sequences, *, sample_weight: Iterable[float] | None = None) -> CRFCV:
        """Select the penalty, and train with it on all data.

        Parameters
        ----------
        X : iterable of sequences
            As for `CRF.fit`.
        y : iterable of sequences of labels
            One label per token.
        sample_weight : iterable of float, default=None
            A weight of at least 0 per sequence, for training. Held-out scores have no weights.

        Returns
        -------
        CRFCV
            The fitted estimator.

        Raises
        ------
        DataError
            If the data cannot be used.
        ValueError
            If parameters do not fit together.
        """
        X, y = list(X), list(y)
        base, weights = base_of(self.estimator), None if sample_weight is None else checked_weights(sample_weight)
        for name, given in (("y", y), ("sample_weight", X if weights is None else weights)):
            if len(given) != len(X):
                raise DataError(
                    f"X has {len(X)} sequences and {name} has {len(given)} elements; give one per sequence."
                )
        one_of("scoring", self.scoring, SCORES)
        with announce_compilation():
            paths = self._train_folds(base, Labeled(X, y, weights), self._folds(X, y))
        self._select(paths)
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            chosen = clone(base).set_params(c1=self.c1_, c2=self.c2_)
            self.best_estimator_ = chosen.fit(X, y, sample_weight=weights)
        return self

    @property
    def model_(self) -> Model:
        """The model of `best_estimator_`."""
        if "best_estimator_" not in self.__dict__:
            remedy = "set refit=True and call fit" if "c2_" in self.__dict__ else "call fit, or CRFCV.load"
            raise NotFittedError(f"This CRFCV has no model; {remedy}.")
        return self.best_estimator_.model_

    def __sklearn_is_fitted__(self) -> bool:
        return "c2_" in self.__dict__

    def _train_folds(self, base: CRF, data: Labeled, folds: list[Fold]) -> list[RegularizationPath]:
        """Return the path of each fold; the penalties of the first are those of all."""
        n_jobs, grid = usable_jobs(self.n_jobs), Penalties(self.c1_values, self.c2_values)
        n_threads = min(n_jobs, len(folds))
        train = partial(train_path, base, grid=grid, wanted=[self.scoring])
        halves = [(pick(data, kept), pick(data, held)) for kept, held in folds]
        bar = CountBar("cross-validation", len(folds) * number_of_penalties(grid), quiet=not base.verbose)
        with bar, ThreadPoolExecutor(n_threads, "fastcrf") as pool:
            first = train(*halves[0], n_jobs=max(1, n_jobs // n_threads), done=bar.advance)
            along = list(zip(first.c1.tolist(), first.c2.tolist(), strict=True))
            rest = pool.map(lambda half: train(*half, n_jobs=1, along=along, done=bar.advance), halves[1:])
            return [first, *rest]

    def _select(self, paths: list[RegularizationPath]) -> None:
        """Keep the scores of all folds, and the penalty with the best mean; of equal ones the strongest."""
        self.c1_values_, self.c2_values_ = paths[0].c1, paths[0].c2
        self.scores_ = np.array([path.scores[self.scoring] for path in paths]).T
        self.n_nonzero_ = np.mean([path.n_nonzero for path in paths], axis=0)
        best = int(self.scores_.mean(axis=1).argmax())
        self.c1_, self.c2_ = float(self.c1_values_[best]), float(self.c2_values_[best])
        self.best_score_ = float(self.scores_[best].mean())

    def _folds(self, X: list[Any], y: list[Any]) -> list[Fold]:
        """Return the sequences to train on and those held out, of each fold."""
        if hasattr(self.cv, "split") or not np.isscalar(self.cv):
            return [(np.asarray(train), np.asarray(test)) for train, test in check_cv(self.cv).split(X, y)]
        n, n_folds = len(X), whole("cv", self.cv, 2)
        if n < n_folds:
            raise DataError(f"cv={n_folds} needs at least as many sequences; there are {n}.")
        order = np.random.default_rng(seed_of(self.random_state)).permutation(n)
        held = [np.sort(fold) for fold in np.array_split(order, n_folds)]
        return [(np.setdiff1d(order, fold), fold) for fold in held]

    @classmethod
    def _around(cls, model: Model) -> Self:
        best = CRF._around(model)
        search = cls(clone(best))
        search.best_estimator_, search.c1_, search.c2_ = best, best.c1, best.c2
        return search


def pick(data: Labeled, places: Longs) -> Labeled:
    """Return some of the sequences, with their labels and weights."""
    X, y, weights = data
    chosen = places.tolist()
    return Labeled([X[i] for i in chosen], [y[i] for i in chosen], None if weights is None else weights[places])
