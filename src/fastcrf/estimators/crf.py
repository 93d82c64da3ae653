"""`CRF`: the scikit-learn estimator, with the constructor, methods and attributes of `sklearn_crfsuite.CRF`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from fastcrf.core.checks import finite, functions, whole
from fastcrf.data.corpus_file.reading import EncodedCorpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.boundaries import BoundedAttributes, bounded, without_boundaries
from fastcrf.data.encoding.encoder import NO_ITEMS
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import TemplateFile, template_of
from fastcrf.estimators.base import PathLike, TrainedEstimator
from fastcrf.estimators.sklearn_conventions import warn_early_end
from fastcrf.features.histories import check_order
from fastcrf.fitting.crfsuite_log import training_log
from fastcrf.fitting.fit import Fit, fit_corpus, fit_model
from fastcrf.fitting.plan import Plan, make_plan
from fastcrf.fitting.saved_parameters import permitted
from fastcrf.fitting.stream import Stream
from fastcrf.fitting.stream_file import load_stream, save_stream
from fastcrf.model.model import Model
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.system.atomic_write import check_replaceable
from fastcrf.system.threads import usable_jobs
from fastcrf.training.progress import Progress
from fastcrf.training.trace import Row

NOT_FITTED = "This CRF is not fitted: call fit, or set model_filename to the file of a saved model."
OUTCOME = ("history_", "n_iter_", "converged_", "stop_reason_", "certificate_", "training_log_")  # what a fit tells
OF_ANOTHER = {
    "tagger_": "use predict and predict_marginals, or fastcrf.compat.sklearn_crfsuite.CRF, which has one",
    "modelfile": "use save and load, or fastcrf.compat.sklearn_crfsuite.CRF, which has one",
}


class CRF(TrainedEstimator):
    """Linear-chain conditional random field for labeling sequences.

    Minimizes  sum_i s_i * -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2  and says how far from the optimum it ended. The
    first 28 parameters are those of `sklearn_crfsuite.CRF`, in its order; None means the default. docs/parameters.md
    tells all about each; in short:

    algorithm: "auto" (no tuning: docs/how-to-choose.md), the name of a solver (`fastcrf solvers` lists them), or a
        Solver object such as LBFGS(pairs=10). CRFsuite's names come with CRFsuite's stopping rules.
    min_freq, all_possible_states, all_possible_transitions: which features there are (0, False, False).
    c1, c2: penalties (the solver's own: for "auto" and "lbfgs" c1=0, c2=1).
    max_iterations: maximum number of steps (no limit for "lbfgs", else 1000).
    num_memories, max_linesearch: options of lbfgs and owlqn (6, 20) and of auto (as many as are cheap, 20).
    epsilon, period, delta: CRFsuite's stopping rules, in force for CRFsuite's names or if given (1e-5, 10, 1e-5).
    calibration_*, pa_type, c, error_sensitive, averaging, variance, gamma: options of other CRFsuite algorithms.
    verbose: show progress on standard error.
    model_filename: where `fit` saves the model, and where an unfitted CRF finds one.
    linesearch, keep_tempfiles, trainer_cls: accepted, without effect.
    tol: goal of training, a certified relative gap to the optimum (1e-3, unless CRFsuite's rules are in force).
    gradient_tol, mean_gradient_tol: goals in place of it, limits of the largest slope of F or of F / sequences (none).
    max_passes: maximum number of effective passes over the data (no limit).
    patience: with X_dev, stop when held-out accuracy has not risen for this many steps, and keep the best weights.
    n_jobs: number of threads (all usable cores; 1 inside a joblib worker).
    random_state: seed of stochastic solvers (0).
    warm_start: start from the weights of the previous fit, or of the model in model_filename.
    callbacks: functions of a history row; one that returns True ends training.
    template: makes the attributes of raw rows such as ["the", "DT"], of which the sequences of X then consist: a file
        of CRF++, Wapiti or CRFsuite, or its text (none: X is items).
    engine: where batch solvers evaluate: None (threads of this process), "dask" (the workers of the current client),
        the address of a Dask scheduler, or "local:4" (four processes); `n_jobs` is then the number of shards.
    crfsuite_compat: drop pairs whose values sum to less than 0, as CRFsuite does.
    prior: a model whose weights are the mean of the L2 penalty, c2 |w - prior|^2: the path of its file, a fitted CRF or
        its `model_`. What the new data do not speak about stays as it has it.
    expected_sequences: how many `partial_fit` will see in all: the penalty is for so many (those seen so far).
    order: how many labels before a label its transition weights look at: 1; with 2,
        label triples have weights, too, and so on for those that occur in the data.
    boundaries: the start and the end of a sequence are states with weights of their own (docs/objective.md).

    After `fit`: `classes_` (in order of first appearance), `attributes_`, `state_features_`, `transition_features_`,
    `num_attributes_`, `size_`, `model_`; `history_` (a dict per step), `n_iter_`, `converged_`, `stop_reason_`,
    `certificate_`, `training_log_`.
    """

    def __init__(
        self,
        algorithm: str | Solver | None = "auto",
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: PathLike | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
        *,
        tol: float | None = None,
        gradient_tol: float | None = None,
        mean_gradient_tol: float | None = None,
        max_passes: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Row], Any]] | None = None,
        crfsuite_compat: bool = False,
        template: PathLike | None = None,
        prior: PathLike | Model | CRF | None = None,
        expected_sequences: int | None = None,
        engine: str | None = None,
        order: int | None = None,
        boundaries: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.tol = tol
        self.gradient_tol = gradient_tol
        self.mean_gradient_tol = mean_gradient_tol
        self.max_passes = max_passes
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.crfsuite_compat = crfsuite_compat
        self.template = template
        self.prior = prior
        self.expected_sequences = expected_sequences
        self.engine = engine
        self.order = order
        self.boundaries = boundaries

    def fit(
        self,
        X: Iterable[Any] | EncodedCorpus,
        y: Iterable[Any] | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
        sample_weight: Iterable[float] | None = None,
    ) -> CRF:
        """Train on sequences X of items (dicts, or lists of strings) with labels y; `sample_weight` is per sequence.

        X may be an encoded corpus (`fastcrf.open_corpus`), which brings labels, weights and template of its own. The
        token accuracy on X_dev, y_dev is in each row of `history_`.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use held-out data, or neither.")
        if self.model_filename is not None:
            check_replaceable(self.model_filename)  # now, not when training is done
        how = {
            "dev": None if X_dev is None or y_dev is None else (X_dev, y_dev),
            "prior": None if self.prior is None else model_of(self.prior),
            "start": self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None,
            "patience": self.patience,
            "callbacks": functions("callbacks", self.callbacks),
            "n_jobs": usable_jobs(self.n_jobs) if self.engine is None else self.n_jobs,
            "progress": Progress() if self.verbose else None,
            "options": {"parameters": self._saved_parameters()},
        }
        plan = make_plan(self.get_params(deep=False))
        if isinstance(X, EncodedCorpus):
            fit = self._fit_encoded(X, y, sample_weight, plan, how)
        else:
            fit = self._fit_sequences(X, y, sample_weight, plan, how)
        self.__dict__.pop("_stream", None)
        self._keep(fit)
        if self.model_filename is not None:
            self.save(self.model_filename)
        if not (fit.converged or fit.asked):
            warn_early_end(fit)
        return self

    def partial_fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        classes: Iterable[Any] | None = None,
        sample_weight: Iterable[float] | None = None,
    ) -> CRF:
        """Learn from some more sequences, once, and forget them: on-line learning (docs/online.md).

        New attributes and labels extend what is there; `classes` may name labels before they turn up. "auto" is psa
        here; staggered-aitken, adagrad, asg and sgd can, too. After `fit` it goes on from its weights.
        """
        stream: Stream = self.__dict__.get("_stream") or self._new_stream()
        history = list(self.__dict__["history_"]) if stream.chunks else []
        rows = stream.learn(X, y, classes, sample_weight)
        self._stream, self.history_, self.n_iter_ = stream, [*history, *rows], stream.chunks
        self.__dict__.pop("_model", None)
        return self

    def save_stream(self, path: PathLike) -> None:
        """Write all that `partial_fit` needs to go on exactly, to one file. `save` writes the model alone."""
        if not hasattr(self, "_stream"):
            raise NotFittedError("This CRF has not learnt on-line: call partial_fit, or use save.")
        save_stream(path, self._stream, {"parameters": self._saved_parameters()})

    @classmethod
    def load_stream(cls, path: PathLike) -> CRF:
        """A CRF from a file that `save_stream` wrote; its next `partial_fit` goes on as if nothing had happened."""
        stream, model = load_stream(path)
        estimator = cls._around(model)
        del estimator._model
        estimator._stream, estimator.history_, estimator.n_iter_ = stream, [], stream.chunks
        return estimator

    def _fit_sequences(self, X: Any, y: Any, sample_weight: Any, plan: Plan, how: dict[str, Any]) -> Fit:
        if y is None:
            raise ValueError(
                "y is None; give one list of labels per sequence of X, or an encoded corpus, which has its own."
            )
        template = None if self.template is None else template_of(self.template)
        attributes = self._no_attributes(template)
        features = self._feature_options() | {"transitions": template is None or template.transitions}
        if self.engine is not None:
            from fastcrf.cluster.training import fit_sequences

            fit = fit_sequences(self.engine, X, y, plan, attributes, sample_weight, features=features, **how)
        else:
            fit = fit_model(X, y, plan, attributes=attributes, sample_weight=sample_weight, features=features, **how)
        return fit if template is None else fit._replace(model=reading_rows(fit.model))

    def _fit_encoded(self, data: EncodedCorpus, y: Any, sample_weight: Any, plan: Plan, how: dict[str, Any]) -> Fit:
        for name, given in (("y", y), ("sample_weight", sample_weight), ("template", self.template)):
            if given is not None:
                raise ValueError(f"An encoded corpus has its own {name}; leave {name} None.")
        features = self._feature_options() | {"transitions": data.transitions}
        if self.engine is not None:
            from fastcrf.cluster.training import fit_encoded

            if self.boundaries and not isinstance(data.attributes, BoundedAttributes):
                raise ValueError(
                    "On a cluster an encoded corpus needs boundaries=True when it is encoded (fastcrf encode "
                    "--boundaries); encode it again, or train without an engine."
                )
            fit = fit_encoded(self.engine, data, plan, features=features, **how)
        else:
            corpus, attributes = data.corpus, data.attributes
            if self.boundaries:
                corpus, attributes = bounded(corpus, attributes)
            fit = fit_corpus(corpus, attributes, data.labels, plan, features=features, **how)
        return fit._replace(model=replace(fit.model, input=data.input))

    @classmethod
    def load(cls, path: PathLike) -> CRF:
        """A fitted CRF from a file that `save`, CRFsuite, CRF++ or Wapiti wrote, with the parameters that it holds."""
        return cls._around(Model.load(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> CRF:
        """A fitted CRF from the content of a file."""
        return cls._around(Model.from_bytes(data))

    @property
    def model_(self) -> Model:
        """The trained model: from `fit`, or from the file `model_filename`."""
        if not self.__sklearn_is_fitted__():
            raise self._not_fitted()
        if not hasattr(self, "_model") and hasattr(self, "_stream"):
            model = self._stream.model({"parameters": self._saved_parameters()})
            self._model = model if self.template is None else reading_rows(model)
        elif not hasattr(self, "_model"):
            self._model = Model.load(self.model_filename)  # type: ignore[arg-type]
        return self._model

    def __getattr__(self, name: str) -> Any:
        """Only for what is missing: of an attribute that `fit` makes, or of a property of the model, say so."""
        if name not in OUTCOME and not hasattr(type(self), name):
            remedy = f"; {OF_ANOTHER[name]}" if name in OF_ANOTHER else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{remedy}")
        if self.__sklearn_is_fitted__():
            raise NotFittedError(f"This CRF has no {name}: model files do not store it; call fit.")
        raise self._not_fitted()

    def _not_fitted(self) -> NotFittedError:
        if self.model_filename is None:
            return NotFittedError(NOT_FITTED)
        path = os.fspath(self.model_filename)
        return NotFittedError(
            f"This CRF is not fitted, and there is no file {path}: call fit, or correct model_filename."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.__dict__.keys() & {"_model", "_stream"}) or (
            self.model_filename is not None and os.path.exists(self.model_filename)
        )

    def _new_stream(self) -> Stream:
        """Where on-line learning begins: with nothing, or with the weights of a model."""
        if self.prior is not None:
            raise ValueError(
                "partial_fit takes no prior; leave prior None and go on from a fitted model, or use fit with the prior."
            )
        template = None if self.template is None else template_of(self.template)
        plan = make_plan(self.get_params(deep=False))
        solver = plan.solver.for_streams() if isinstance(plan.solver, Policy) else plan.solver
        expected = self.expected_sequences
        stream = Stream(
            solver, plan.c1, plan.c2, self._no_attributes(template),
            self._feature_options() | {"transitions": template is None or template.transitions},
            None if expected is None else whole("expected_sequences", expected, 1),
        )  # fmt: skip
        if self.__sklearn_is_fitted__():
            model = self.model_
            stream = replace(
                stream, attributes=model.attributes, labels=list(model.labels), features=model.features,
                weights=model.weights,
            )  # fmt: skip
        return stream

    def _no_attributes(self, template: TemplateFile | None = None) -> Attributes:
        """None yet, of the kind that the sequences are for."""
        attributes = TemplateAttributes.empty(template) if template else NO_ITEMS
        return BoundedAttributes(attributes) if self.boundaries else attributes

    def _feature_options(self) -> dict[str, Any]:
        return {
            "all_states": bool(self.all_possible_states),
            "all_transitions": bool(self.all_possible_transitions),
            "min_freq": finite("min_freq", 0.0 if self.min_freq is None else self.min_freq),
            "drop_negative": bool(self.crfsuite_compat),
            "order": check_order(1 if self.order is None else self.order),
        }

    def _saved_parameters(self) -> dict[str, Any]:
        """Parameters that a file can hold and a reader can use."""
        return permitted(self.get_params(deep=False), self._get_param_names())

    def _keep(self, fit: Fit) -> None:
        result = fit.result
        self._model = fit.model
        self.history_ = result.trace
        self.n_iter_ = result.n_steps
        self.converged_ = fit.converged
        self.stop_reason_ = result.reason
        self.certificate_ = result.certificate
        self.training_log_ = training_log(result.trace, len(result.weights))

    @classmethod
    def _around(cls, model: Model) -> CRF:
        estimator = cls(**permitted(model.options.get("parameters"), cls._get_param_names()))
        attributes = without_boundaries(model.attributes)
        if isinstance(attributes, TemplateAttributes):
            estimator.template = f"{attributes.template.text}\n"  # a line end tells a text from a path
        estimator._model = model
        return estimator


def reading_rows(model: Model) -> Model:
    """The model of a template, so that the command line tags columns with it: those that the template reads."""
    attributes = without_boundaries(model.attributes)
    assert isinstance(attributes, TemplateAttributes)
    return replace(model, input={"kind": "template", "n_columns": attributes.program.n_columns})


def model_of(prior: PathLike | Model | CRF) -> Model:
    """The model that is meant by a path, a fitted CRF or a model."""
    if isinstance(prior, Model):
        return prior
    if isinstance(prior, CRF):
        return prior.model_
    if not isinstance(prior, str | os.PathLike):
        raise ValueError(f"prior must be the path of a model, a fitted CRF or its model_; got prior={prior!r}.")
    return Model.load(prior)
