"""The parameters of CRFsuite's five algorithms: name, kind, default, a word on each, its meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fastcrf.compat.pycrfsuite._meanings import Criterion, Feature, Ignored, Meaning, Option, Penalty


def truth(text: str) -> bool:
    return bool(int(float(text)))


def whole(text: str) -> int:
    return int(float(text))


class Parameter(NamedTuple):
    read: Callable[[str], Any]
    default: Any
    help: str
    meaning: Meaning


FEATURES = {
    "feature.minfreq": Parameter(
        float, 0.0, "Features that occur less often than this are left out.", Feature("min_freq")
    ),
    "feature.possible_states": Parameter(
        truth, False, "Give every attribute a weight with every label, seen or not.", Feature("all_possible_states")
    ),
    "feature.possible_transitions": Parameter(
        truth, False, "Give every pair of labels a weight, seen or not.", Feature("all_possible_transitions")
    ),
}
L2 = Parameter(float, 1.0, "Weight of the L2 penalty c2 |w|^2.", Penalty("c2"))
PERIOD = Parameter(whole, 10, "Iterations over which the decrease of the objective is measured.", Criterion("period"))
MEAN_LOSS = Parameter(float, 0.0, "Stop when the mean loss is at most this.", Criterion("mean_loss"))


def limit(default: int) -> Parameter:
    return Parameter(whole, default, "Limit of iterations.", Criterion("max_iterations"))


def delta(default: float) -> Parameter:
    text = "Stop when the objective fell by less than this share in the last ${period}."
    return Parameter(float, default, text, Criterion("delta"))


def calibration(name: str, read: Callable[[str], Any], default: Any, text: str) -> Parameter:
    return Parameter(read, default, text, Option(f"calibration_{name}"))


ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        "c1": Parameter(float, 0.0, "Weight of the L1 penalty c1 |w|.", Penalty("c1")),
        "c2": L2,
        "max_iterations": limit(2**31 - 1),
        "num_memories": Parameter(whole, 6, "Number of past steps that approximate the curvature.", Option("pairs")),
        "epsilon": Parameter(float, 1e-5, "Stop when |gradient| / max(1, |w|) is at most this.", Criterion("ratio")),
        "period": PERIOD,
        "delta": delta(1e-5),
        "linesearch": Parameter(
            str, "MoreThuente", "Accepted, without effect: fastcrf has a line search of its own.", Ignored()
        ),
        "max_linesearch": Parameter(whole, 20, "Limit of trials in a line search.", Option("max_linesearch")),
    },
    "l2sgd": {
        "c2": L2,
        "max_iterations": limit(1000),
        "period": PERIOD,
        "delta": delta(1e-6),
        "calibration.eta": calibration("eta", float, 0.1, "Step size of the first trial."),
        "calibration.rate": calibration("rate", float, 2.0, "Factor between the step sizes of trials."),
        "calibration.samples": calibration("samples", float, 1000.0, "Sequences of a trial."),
        "calibration.candidates": calibration("candidates", whole, 10, "Number of step sizes that must do well."),
        "calibration.max_trials": calibration("max_trials", whole, 20, "Limit of trials."),
    },
    "averaged-perceptron": {"max_iterations": limit(100), "epsilon": MEAN_LOSS},
    "passive-aggressive": {
        "type": Parameter(whole, 1, "Slack: 0 none, 1 PA-I, 2 PA-II.", Option("pa_type")),
        "c": Parameter(float, 1.0, "Aggressiveness: the largest step.", Option("c")),
        "error_sensitive": Parameter(
            truth, True, "Whether the cost grows with the number of wrong labels.", Option("error_sensitive")
        ),
        "averaging": Parameter(truth, True, "Whether weights are averaged over all steps.", Option("averaging")),
        "max_iterations": limit(100),
        "epsilon": MEAN_LOSS,
    },
    "arow": {
        "variance": Parameter(float, 1.0, "Variance of each weight at the start.", Option("variance")),
        "gamma": Parameter(float, 1.0, "Trade-off between loss and change of the weights.", Option("gamma")),
        "max_iterations": limit(100),
        "epsilon": MEAN_LOSS,
    },
}
ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


class Parameters:
    """The parameters of the algorithm that is selected, and which of them were set."""

    def __init__(self, algorithm: str = "lbfgs") -> None:
        self.algorithm = algorithm
        self.known = FEATURES | ALGORITHMS[algorithm]
        self.given: dict[str, Any] = {}

    def set(self, name: str, value: Any) -> None:
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if name not in self.known:
            raise ValueError(f"Parameter not found: {name} = {text}")
        try:
            self.given[name] = self.known[name].read(text)
        except ValueError:
            raise ValueError(f"The parameter {name} takes a number; got {value!r}.") from None

    def get(self, name: str) -> Any:
        if name not in self.known:
            raise ValueError(f"Parameter not found: {name} = ")
        return self.given.get(name, self.known[name].default)

    def meaning(self, kind: type[Meaning]) -> dict[str, Any]:
        """Return the values, set or default, of the parameters that fastcrf has in this place, by fastcrf's names."""
        meanings = {name: parameter.meaning for name, parameter in self.known.items()}
        return {meaning.name: self.get(name) for name, meaning in meanings.items() if isinstance(meaning, kind)}
