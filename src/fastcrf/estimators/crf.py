"""`CRF`: the estimator that trains linear-chain conditional random fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from fastcrf.constraints.constraints import Constraints, constraints_of
from fastcrf.core.checks import finite, functions, whole
from fastcrf.data.corpus_file.reading import EncodedCorpus
from fastcrf.data.encoding.boundaries import without_boundaries
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import TemplateFile, template_of
from fastcrf.estimators.base import PathLike, TrainedEstimator
from fastcrf.estimators.history import History
from fastcrf.estimators.sklearn_conventions import warn_early_end
from fastcrf.estimators.solver_parameters import WithSolverParameters
from fastcrf.estimators.training import (
    fit_encoded,
    fit_sequences,
    model_of,
    no_attributes,
    open_checkpoint,
    with_input,
)
from fastcrf.feature_space.label_contexts import check_order
from fastcrf.fitting.fit import Fit
from fastcrf.fitting.plan import Plan, make_plan
from fastcrf.fitting.saved_parameters import restored, saved
from fastcrf.fitting.stream import NO_RARE, Stream
from fastcrf.fitting.stream_file import load_stream, save_stream
from fastcrf.model.model import Model
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.stopping import Rule
from fastcrf.system.threads import usable_jobs
from fastcrf.training.trace import Row
from fastcrf.training.usual_display import usual_display

NOT_FITTED = "This CRF is not fitted: call fit, or load a model with CRF.load."
OUTCOME = ("history_", "n_iter_", "converged_", "stop_reason_", "certificate_")  # not in model files
PLANNED = ("c1", "c2", "tol", "max_iterations", "max_seconds", "stopping", "random_state", "engine")


class CRF(WithSolverParameters, TrainedEstimator):
    """Linear-chain conditional random field (CRF) for labeling sequences.

    Training minimizes ``sum_i s_i * -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2`` and certifies how far from the optimum
    it ended. The constructor stores its arguments; `fit` validates them.

    Parameters
    ----------
    algorithm : str or Solver, default="auto"
        The name of a solver (`fastcrf solvers` lists them), or a solver object with options of its own, such as
        ``LBFGS(pairs=20)`` from `fastcrf.solvers`. "auto" needs no tuning.
    c1 : float, default=0.0
        Weight of the L1 penalty ``c1 * sum(|w|)``, which sets weights to exactly 0.
    c2 : float, default=1.0
        Weight of the L2 penalty ``c2 * sum(w ** 2)``. There is no factor 1/2.
    order : int, default=1
        Number of previous labels that a transition feature depends on, 1 to 9.
    boundaries : bool, default=False
        Whether the start and the end of a sequence have transition weights.
    min_freq : float, default=0.0
        Drop features (attribute, label) whose frequency is below this.
    min_count : int, default=1
        Drop attributes that occur less often than this, regardless of label (CRF++'s -f).
    all_possible_states : bool, default=False
        Whether every (attribute, label) pair has a weight, including pairs absent from the training data.
    all_possible_transitions : bool, default=False
        Whether every label pair has a weight, including pairs absent from the training data.
    template : str or path, default=None
        Template of CRF++, Wapiti or CRFsuite that makes the attributes, as a file or as text. The sequences of X then
        consist of raw rows such as ``["the", "DT"]``.
    constraints : Constraints, scheme name or None, default=None
        Which label sequences may be predicted, such as "BIO". They are saved with the model.
    constrained_training : bool, default=False
        Whether training also counts only the label sequences that `constraints` allow: the model is the distribution
        over these. Training labels that are not allowed raise ConstraintError.
    partial_labels : bool, default=False
        Whether labels in y may be unknown: None, or the set of labels that are possible. Training then maximizes the
        likelihood of what is known. The objective is not convex, so there is no certificate.
    tol : float or None, default=1e-3
        Stop at this certified relative gap to the optimum. Without a useful certificate (c2=0, or a solver that does
        not minimize the objective), training also stops when the objective or the training loss decreases by a
        relative amount of at most tol / 100 over 10 iterations. None: neither test is applied.
    max_iterations : int or None, default=1000
        Limit on iterations (epochs of a stochastic solver). None: no limit.
    max_seconds : float or None, default=None
        Limit on the time spent in the solver, in seconds.
    stopping : sequence of rules, default=()
        Further rules from `fastcrf.stopping`, such as ``[EarlyStopping(patience=5)]``. The first one met ends training.
    random_state : int, RandomState, Generator or None, default=0
        Seed of stochastic solvers. The same seed and number of threads give the same model, bit for bit. None: a new
        seed at each fit.
    n_jobs : int or None, default=None
        Number of threads or, if `engine` is set, of shards. None: all cores, 1 inside a joblib worker.
    engine : str or None, default=None
        Where batch solvers evaluate. None: threads of this process; "dask": the current Dask client;
        "tcp://host:8786": a Dask scheduler; "local:4": four processes.
    callbacks : sequence of functions, default=()
        Functions called with each row of `history_`; one that returns True ends training. They never change the
        numerics.
    verbose : bool, default=False
        Whether to show progress: a bar with the time left on a terminal, the certified gap as it falls in a notebook,
        elsewhere a line on standard error every 30 s.

    Attributes
    ----------
    classes_ : list
        Labels, in order of first appearance.
    certificate_ : Certificate
        Bounds on the objective: `objective`, `lower_bound`, `gap` and `relative_gap`.
    converged_ : bool
        Whether training reached `tol` or a rule of `stopping` that measures convergence. If a limit ended training
        before that, `fit` warns with ConvergenceWarning.
    stop_reason_ : str
        Why training ended.
    n_iter_ : int
        Number of iterations.
    history_ : History
        A list of dicts, one per iteration; ``history_.columns()`` returns arrays.
    model_ : Model
        The trained model, which predicts without scikit-learn.
    attributes_, state_features_, transition_features_, ngram_features_
        Names of the attributes, and dicts that map names to nonzero weights.

    See Also
    --------
    CRFCV : Select the penalty by cross-validation.
    fastcrf.solvers : The solver objects and their options.
    fastcrf.stopping : The rules for `stopping`.
    fastcrf.compat.sklearn_crfsuite.CRF : The estimator with the parameters of sklearn-crfsuite.

    Examples
    --------
    >>> from fastcrf import CRF
    >>> from fastcrf.solvers import LBFGS, OWLQN
    >>> from sklearn.model_selection import GridSearchCV
    >>> X = [[{"word": "31", "digit": True}, {"word": "Elm"}], [{"word": "Paris"}]] * 5
    >>> y = [["Number", "Street"], ["City"]] * 5
    >>> CRF().fit(X, y).predict(X[:1])
    [['Number', 'Street']]

    Train to a certified relative gap of 1e-5:

    >>> crf = CRF(tol=1e-5).fit(X, y)

    OWL-QN with 30 curvature pairs and an elastic-net penalty (c2 is 1 by default; c2=0 is L1 alone):

    >>> crf = CRF(OWLQN(pairs=30), c1=0.1).fit(X, y)

    A grid over the L2 penalty and the number of pairs:

    >>> grid = {"c2": [0.1, 1.0], "algorithm__pairs": [6, 20]}
    >>> search = GridSearchCV(CRF(LBFGS()), grid).fit(X, y)
    """

    def __init__(
        self,
        algorithm: str | Solver = "auto",
        *,
        c1: float = 0.0,
        c2: float = 1.0,
        order: int = 1,
        boundaries: bool = False,
        min_freq: float = 0.0,
        min_count: int = 1,
        all_possible_states: bool = False,
        all_possible_transitions: bool = False,
        template: PathLike | None = None,
        constraints: Constraints | str | None = None,
        constrained_training: bool = False,
        partial_labels: bool = False,
        tol: float | None = 1e-3,
        max_iterations: int | None = 1000,
        max_seconds: float | None = None,
        stopping: Sequence[Rule] = (),
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        engine: str | None = None,
        callbacks: Sequence[Callable[[Row], Any]] = (),
        verbose: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.order = order
        self.boundaries = boundaries
        self.min_freq = min_freq
        self.min_count = min_count
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.template = template
        self.constraints = constraints
        self.constrained_training = constrained_training
        self.partial_labels = partial_labels
        self.tol = tol
        self.max_iterations = max_iterations
        self.max_seconds = max_seconds
        self.stopping = stopping
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(
        self,
        X: Iterable[Any] | EncodedCorpus,
        y: Iterable[Any] | None = None,
        *,
        sample_weight: Iterable[float] | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
        init: Any = None,
        prior: Any = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 30.0,
        resume: bool = False,
    ) -> CRF:
        """Train on labeled sequences.

        Parameters
        ----------
        X : iterable of sequences, or EncodedCorpus
            Sequences of tokens; a token is a dict or a list of strings, or a raw row where `template` is set. A
            sequence can also be an array of T x D numbers or a sparse matrix of SciPy: column d is attribute ``f{d}``.
            An encoded corpus (`fastcrf.open_corpus`) brings labels, weights and template of its own.
        y : iterable of sequences of labels
            One label per token; with `partial_labels`, also None or a set of labels.
        sample_weight : iterable of float
            A weight of at least 0 per sequence.
        X_dev, y_dev : iterables
            Held-out data. Each row of `history_` has their token accuracy, `dev_accuracy`, and the F1 of their
            segments, `dev_segment_f1`.
        init : path, Model or fitted estimator
            Start from its weights, matched by the names of attributes and labels. The optimum stays the same.
        prior : path, Model or fitted estimator
            The mean of the L2 penalty, which becomes ``c2 * sum((w - prior) ** 2)``.
        checkpoint : path
            File in which the state of training is saved every `checkpoint_every` seconds and at the end, also after
            Ctrl-C.
        checkpoint_every : float
            Seconds between two checkpoints.
        resume : bool
            Continue from the checkpoint if the file exists, bit for bit; data and parameters must be the same.

        Returns
        -------
        CRF
            The fitted estimator.

        Raises
        ------
        DataError
            If the data cannot be used; the message says where the fault is.
        ValueError
            If parameters do not fit together: PenaltyError if the solver cannot handle c1 and c2, CheckpointError if
            training cannot be resumed.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use held-out data, or neither.")
        plan, template = self._plan(), self._template()
        how: dict[str, Any] = {
            "dev": None if X_dev is None or y_dev is None else (X_dev, y_dev),
            "features": self._feature_options(template),
            "constraints": constraints_of(self.constraints),
            "constrained_training": bool(self.constrained_training),
            "min_count": whole("min_count", self.min_count, 1),
            "start": model_of("init", init),
            "prior": model_of("prior", prior),
            "callbacks": functions("callbacks", self.callbacks),
            "n_jobs": usable_jobs(self.n_jobs) if self.engine is None else self.n_jobs,
            "checkpoint": open_checkpoint(checkpoint, checkpoint_every, resume, self.random_state),
            "progress": usual_display() if self.verbose else None,
            "options": {"parameters": saved(self.get_params(deep=False))},
        }
        if isinstance(X, EncodedCorpus):
            if self.partial_labels:
                raise ValueError("An encoded corpus has all labels; set partial_labels to False.")
            for name, given in (("y", y), ("sample_weight", sample_weight), ("template", self.template)):
                if given is not None:
                    raise ValueError(f"An encoded corpus has its own {name}; leave {name} None.")
            how["features"]["transitions"] = X.transitions
            fit = fit_encoded(X, plan, self.boundaries, self.engine, how)
        else:
            attributes = no_attributes(template, self.boundaries)
            partial = bool(self.partial_labels)
            fit = fit_sequences(X, y, sample_weight, plan, attributes, self.engine, how, partial)
        self._keep(fit)
        if fit.ended_early:
            warn_early_end(fit)
        return self

    def partial_fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        *,
        classes: Iterable[Any] | None = None,
        sample_weight: Iterable[float] | None = None,
        total_sequences: int | None = None,
    ) -> CRF:
        """Update the model with one chunk of sequences (online learning).

        A chunk is one epoch of the solver; "auto" is psa here. `tol`, limits and `stopping` do not apply. After `fit`,
        learning continues from its weights.

        Parameters
        ----------
        X, y : iterables of sequences
            As for `fit`. New attributes and labels extend the model.
        classes : iterable of labels
            Labels that may appear later.
        sample_weight : iterable of float
            A weight of at least 0 per sequence.
        total_sequences : int
            Number of sequences in the whole stream, given with the first chunk; the penalty is scaled for it. Without
            it the penalty is for the sequences seen so far.

        Returns
        -------
        CRF
            The updated estimator.
        """
        stream: Stream = self.__dict__.get("_stream") or self._new_stream(total_sequences)
        if total_sequences not in (None, stream.expected):
            raise ValueError(
                f"total_sequences={total_sequences!r} differs from {stream.expected!r}, the value of the first chunk."
            )
        history = self.__dict__["history_"] if stream.chunks else []
        rows = stream.learn(X, y, classes, sample_weight)
        self._stream, self.history_, self.n_iter_ = stream, History([*history, *rows]), stream.chunks
        self.__dict__.pop("_model", None)
        return self

    def save_stream(self, path: PathLike) -> None:
        """Save the model and the solver state so that `partial_fit` can resume bit for bit.

        Parameters
        ----------
        path : str or path
            File to write; `load_stream` reads it.
        """
        if not hasattr(self, "_stream"):
            raise NotFittedError("save_stream requires partial_fit; to save a model trained by fit, use save.")
        options = {"parameters": saved(self.get_params(deep=False))}
        save_stream(path, self._stream, options, constraints_of(self.constraints))

    @classmethod
    def load_stream(cls, path: PathLike) -> CRF:
        """Load a CRF saved by `save_stream`; `partial_fit` resumes bit for bit.

        Parameters
        ----------
        path : str or path
            File to read.

        Returns
        -------
        CRF
            The estimator.

        Raises
        ------
        CheckpointError
            If the file is no saved stream, or damaged.
        """
        stream, model = load_stream(path)
        estimator = cls._around(model)
        del estimator._model
        estimator._stream, estimator.history_, estimator.n_iter_ = stream, History(), stream.chunks
        return estimator

    @property
    def model_(self) -> Model:
        """The trained model."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(NOT_FITTED)
        if not hasattr(self, "_model"):
            model = with_input(self._stream.model({"parameters": saved(self.get_params(deep=False))}))
            self._model = replace(model, constraints=constraints_of(self.constraints))
        return self._model

    def __getattr__(self, name: str) -> Any:
        """Raise NotFittedError for an attribute that `fit` makes; called only for attributes that are missing."""
        if name not in OUTCOME and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.__sklearn_is_fitted__():
            raise NotFittedError(f"This CRF has no {name}: model files do not store it; call fit.")
        raise NotFittedError(NOT_FITTED)

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.__dict__.keys() & {"_model", "_stream"})

    def _plan(self, **other: Any) -> Plan:
        """Return the plan of the parameters, or of others in their place."""
        return make_plan(self.algorithm, **{name: getattr(self, name) for name in PLANNED} | other)

    def _template(self) -> TemplateFile | None:
        return None if self.template is None else template_of(self.template)

    def _new_stream(self, total_sequences: int | None) -> Stream:
        """Return the stream before its first chunk: empty, or with the weights of a model."""
        if whole("min_count", self.min_count, 1) > 1:
            raise ValueError(f"{NO_RARE}; set min_count=1.")
        if self.constrained_training:
            raise ValueError("constrained_training=True requires all data at once: call fit, or set it to False.")
        if self.partial_labels:
            raise ValueError("partial_labels=True requires all data at once: call fit, or set it to False.")
        plan, template = self._plan(), self._template()
        solver = plan.solver.for_streams() if isinstance(plan.solver, Policy) else plan.solver
        expected = None if total_sequences is None else whole("total_sequences", total_sequences, 1)
        attributes = no_attributes(template, self.boundaries)
        stream = Stream(solver, plan.c1, plan.c2, attributes, self._feature_options(template), expected)
        if not self.__sklearn_is_fitted__():
            return stream
        model = self.model_
        return replace(
            stream, attributes=model.attributes, labels=list(model.labels), features=model.features,
            weights=model.weights,
        )  # fmt: skip

    def _feature_options(self, template: TemplateFile | None = None) -> dict[str, Any]:
        return {
            "all_states": bool(self.all_possible_states),
            "all_transitions": bool(self.all_possible_transitions),
            "min_freq": finite("min_freq", self.min_freq),
            "order": check_order(self.order),
            "transitions": template is None or template.transitions,
        }

    def _keep(self, fit: Fit) -> None:
        result = fit.result
        self.__dict__.pop("_stream", None)
        self._model = fit.model
        self.history_ = History(result.trace)
        self.n_iter_ = result.n_steps
        self.converged_ = fit.converged
        self.stop_reason_ = result.reason
        self.certificate_ = result.certificate

    @classmethod
    def _around(cls, model: Model) -> Self:
        estimator = cls(**restored(model.options.get("parameters"), cls._get_param_names()))
        attributes = without_boundaries(model.attributes)
        if isinstance(attributes, TemplateAttributes):
            estimator.template = f"{attributes.template.text}\n"  # a line end tells a text from a path
        estimator.constraints = model.constraints
        estimator._model = model
        return estimator
