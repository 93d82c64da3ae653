"""The messages of a run of training, in CRFsuite's words and order, because programs parse them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastcrf.compat.pycrfsuite._parameters import ALGORITHMS, Parameters
from fastcrf.training.trace import Row

TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
SHORT = {"lbfgs": "L-BFGS", "l2sgd": "SGD"}
LBFGS_NAMES = {  # its parameters in the order and under the names of the log
    **{name: name for name in ("c1", "c2", "num_memories", "max_iterations", "epsilon")},
    **{"period": "stop", "delta": "delta", "linesearch": "linesearch", "max_linesearch": "linesearch.max_iterations"},
}
FIELDS = {  # columns of a row, and how CRFsuite calls them
    "lbfgs": {
        "objective": "Loss: {:f}",
        "feature_norm": "Feature norm: {:f}",
        "gradient_norm": "Error norm: {:f}",
        "active_features": "Active features: {:.0f}",
        "trials": "Line search trials: {:.0f}",
        "step_size": "Line search step: {:f}",
    },
    "l2sgd": {
        "online_objective": "Loss: {:f}",
        "feature_norm": "Feature L2-norm: {:f}",
        "step_size": "Learning rate (eta): {:f}",
    },
    "averaged-perceptron": {"training_loss": "Loss: {:f}", "feature_norm": "Feature norm: {:f}"},
    "passive-aggressive": {"training_loss": "Loss: {:f}", "last_weights_norm": "Feature norm: {:f}"},
    "arow": {"training_loss": "Loss: {:f}", "feature_norm": "Feature norm: {:f}"},
}
MISTAKES = ("averaged-perceptron", "passive-aggressive", "arow")
WORDS = {  # by how a run ended
    "converged": "{} terminated with the stopping criteria\n",
    "stopped": "{} terminated with the maximum number of iterations\n",
    "finished": "{} resulted in convergence\n",
}
WORDS_OF_MISTAKES = {"converged": "Terminated with the stopping criterion\n\n", "stopped": "", "finished": ""}
STORING = ("labels", "attributes", "feature references for transitions", "feature references for attributes")


def generating(parameters: Parameters, holdout: int) -> Iterator[str]:
    """Return the lines before the features are generated."""
    if holdout >= 0:
        yield from (f"Holdout group: {holdout + 1}\n", "\n")
    yield from ("Feature generation\n", "type: CRF1d\n", f"feature.minfreq: {parameters.get('feature.minfreq'):f}\n")
    for name in ("feature.possible_states", "feature.possible_transitions"):
        yield f"{name}: {parameters.get(name):d}\n"


def generated(n_features: int, seconds: float) -> Iterator[str]:
    """Return the lines after it: CRFsuite's dots, and the number of features."""
    for tenth in range(10):
        yield from (str(tenth), *"....")
    yield from ("10", "\n", f"Number of features: {n_features}\n", f"Seconds required: {seconds:.3f}\n", "\n")


def beginning(parameters: Parameters) -> Iterator[str]:
    """Return the lines for the algorithm and its parameters."""
    names = LBFGS_NAMES if parameters.algorithm == "lbfgs" else {n: n for n in ALGORITHMS[parameters.algorithm]}
    yield f"{TITLES[parameters.algorithm]}\n"
    for name, shown in names.items():
        yield f"{shown}: {written(parameters.get(name))}\n"
    yield "\n"


def written(value: Any) -> str:
    return f"{value:f}" if isinstance(value, float) else f"{value:d}" if isinstance(value, int) else str(value)


def iteration(algorithm: str, row: Row, seconds: float) -> Iterator[str]:
    """Return the lines of an iteration, without the blank line at its end."""
    yield f"***** {'Epoch' if algorithm == 'l2sgd' else 'Iteration'} #{row['step']} *****\n"
    for column, form in FIELDS[algorithm].items():
        if row.get(column) is not None:
            yield f"{form.format(row[column])}\n"
    yield f"Seconds required for this iteration: {seconds:.3f}\n"


def ending(algorithm: str, status: str, reason: str, seconds: float) -> Iterator[str]:
    """Return the lines for the reason why the run ended. Programs search for `terminated with error`."""
    words = WORDS_OF_MISTAKES if algorithm in MISTAKES else WORDS
    name = SHORT.get(algorithm, TITLES[algorithm])
    sentence = words[status].format(name) if status in words else f"{name} terminated with error: {reason}\n"
    yield from sentence.splitlines(keepends=True)
    yield from (f"Total seconds required for training: {seconds:.3f}\n", "\n")


def storing(counts: dict[str, tuple[int, int]], seconds: float) -> Iterator[str]:
    """Return the lines for a stored model; `counts` are pairs of kept and all."""
    yield "Storing the model\n"
    for what, (kept, total) in counts.items():
        yield f"Number of active {what}: {kept} ({total})\n"
    yield from (f"Writing {what}\n" for what in STORING)
    yield from (f"Seconds required: {seconds:.3f}\n", "\n")
