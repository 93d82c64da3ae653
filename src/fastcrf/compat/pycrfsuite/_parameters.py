"""The parameters of CRFsuite's five algorithms: names, kinds, defaults, a word on each, and what fastcrf calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


def truth(text: str) -> bool:
    return bool(int(float(text)))


def whole(text: str) -> int:
    return int(float(text))


class Parameter(NamedTuple):
    read: Callable[[str], Any]
    default: Any
    help: str


FEATURES = {
    "feature.minfreq": Parameter(float, 0.0, "Features that occur less often than this are left out."),
    "feature.possible_states": Parameter(truth, False, "Give every attribute a weight with every label, seen or not."),
    "feature.possible_transitions": Parameter(truth, False, "Give every pair of labels a weight, seen or not."),
}
L2 = Parameter(float, 1.0, "Weight of the L2 penalty c2 |w|^2.")
PERIOD = Parameter(whole, 10, "Iterations over which the decrease of the objective is measured.")
MEAN_LOSS = Parameter(float, 0.0, "Stop when the mean loss is at most this.")


def limit(default: int) -> Parameter:
    return Parameter(whole, default, "Limit of iterations.")


def delta(default: float) -> Parameter:
    return Parameter(float, default, "Stop when the objective fell by less than this share in the last ${period}.")


ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        "c1": Parameter(float, 0.0, "Weight of the L1 penalty c1 |w|."),
        "c2": L2,
        "max_iterations": limit(2**31 - 1),
        "num_memories": Parameter(whole, 6, "Number of past steps that approximate the curvature."),
        "epsilon": Parameter(float, 1e-5, "Stop when |gradient| / max(1, |w|) is at most this."),
        "period": PERIOD,
        "delta": delta(1e-5),
        "linesearch": Parameter(str, "MoreThuente", "Accepted, without effect: fastcrf has a line search of its own."),
        "max_linesearch": Parameter(whole, 20, "Limit of trials in a line search."),
    },
    "l2sgd": {
        "c2": L2,
        "max_iterations": limit(1000),
        "period": PERIOD,
        "delta": delta(1e-6),
        "calibration.eta": Parameter(float, 0.1, "Step size of the first trial."),
        "calibration.rate": Parameter(float, 2.0, "Factor between the step sizes of trials."),
        "calibration.samples": Parameter(float, 1000.0, "Sequences of a trial."),
        "calibration.candidates": Parameter(whole, 10, "Number of step sizes that must do well."),
        "calibration.max_trials": Parameter(whole, 20, "Limit of trials."),
    },
    "averaged-perceptron": {"max_iterations": limit(100), "epsilon": MEAN_LOSS},
    "passive-aggressive": {
        "type": Parameter(whole, 1, "Slack: 0 none, 1 PA-I, 2 PA-II."),
        "c": Parameter(float, 1.0, "Aggressiveness: the largest step."),
        "error_sensitive": Parameter(truth, True, "Whether the cost grows with the number of wrong labels."),
        "averaging": Parameter(truth, True, "Whether weights are averaged over all steps."),
        "max_iterations": limit(100),
        "epsilon": MEAN_LOSS,
    },
    "arow": {
        "variance": Parameter(float, 1.0, "Variance of each weight at the start."),
        "gamma": Parameter(float, 1.0, "Trade-off between loss and change of the weights."),
        "max_iterations": limit(100),
        "epsilon": MEAN_LOSS,
    },
}
ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}
OTHER_NAMES = {"type": "pa_type"}  # in fastcrf; apart from that a dot is an underline


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

    def plan(self) -> dict[str, Any]:
        """What was set, besides the features, under fastcrf's names."""
        given = {name: value for name, value in self.given.items() if name not in FEATURES}
        return {
            "algorithm": self.algorithm,
            **{OTHER_NAMES.get(name, name.replace(".", "_")): value for name, value in given.items()},
        }

    def features(self) -> dict[str, Any]:
        """Which features there are, as CRFsuite chooses them: pairs whose values sum to less than 0 are left out."""
        return {
            "min_freq": self.get("feature.minfreq"),
            "all_states": self.get("feature.possible_states"),
            "all_transitions": self.get("feature.possible_transitions"),
            "drop_negative": True,
        }
