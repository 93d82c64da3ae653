"""What a solver remembers is declared once, and a memory from elsewhere is held against the declaration."""

import numpy as np
import pytest

from fastcrf.core.solver_state import COUNT, POINT, StateField, StateMismatch, check_state, take

STATE_FIELDS = {
    **POINT,
    "basis": StateField("weights", n_axes=2),
    "seen": StateField("sequences", "uint8", low=0, high=1),
    "epoch": COUNT,
    "best": StateField(infinite=True),
    "stored": StateField("sequences", optional=True),
}
GOOD = {
    "weights": np.zeros(3),
    "value": 1.5,
    "gradient": np.ones(3),
    "basis": np.ones((4, 3)),
    "seen": np.array([0, 1, 1], np.uint8),
    "epoch": 7,
    "best": np.inf,
}


def test_a_memory_as_declared_passes():
    check_state("it", STATE_FIELDS, GOOD, 3)
    check_state("it", STATE_FIELDS, {**GOOD, "stored": np.ones((5, 8), np.float32), "value": np.float64(2.0)}, 3)


@pytest.mark.parametrize(
    ("item", "value", "sentence"),
    [
        ("weights", np.zeros(2), r"'weights' has the shape \(2,\), but the model has 3 weights"),
        ("basis", np.zeros((4, 2)), r"'basis' has the shape \(4, 2\)"),
        ("weights", 0.0, r"'weights' has the shape \(\)"),
        ("weights", np.zeros((1, 3)), r"'weights' has the shape \(1, 3\), but 1 axes are required"),
        ("weights", np.zeros(3, np.float32), "'weights' has the type float32 instead of float64"),
        ("value", [1.5], r"'value' has the shape \(1,\), but 0 axes are required"),
        ("value", True, "'value' has the type bool instead of float64"),
        ("value", None, "'value' has the type object instead of float64"),
        ("other", 1, "it has the unknown entry 'other'"),
        ("gradient", np.array([1.0, np.nan, 0.0]), "'gradient' holds a number that is not finite"),
        ("value", np.inf, "'value' holds a number that is not finite"),
        ("best", np.nan, "'best' holds a number that is not finite"),
        ("seen", np.array([0, 2, 1], np.uint8), "'seen' holds numbers outside 0 to 1"),
        ("seen", np.array([0.0, 1.0, 1.0]), "'seen' has the type float64 instead of uint8"),
        ("epoch", -1, "'epoch' holds numbers outside 0 to inf"),
        ("epoch", "seven", "'epoch' has the type <U5 instead of int64"),
        ("stored", np.array([np.inf]), "'stored' holds a number that is not finite"),
    ],
)
def test_what_differs_is_named(item, value, sentence):
    with pytest.raises(StateMismatch, match=f"The saved state of it cannot be used: {sentence}.*; start over"):
        check_state("it", STATE_FIELDS, {**GOOD, item: value}, 3)


def test_what_is_missing_is_named():
    with pytest.raises(StateMismatch, match="The saved state of it cannot be used: it lacks 'epoch'; start over"):
        check_state("it", STATE_FIELDS, {name: value for name, value in GOOD.items() if name != "epoch"}, 3)


def test_an_array_goes_only_where_it_fits():
    workspace = np.zeros((2, 2))
    take("it", "a", {"a": np.arange(4.0).reshape(2, 2)}, workspace)
    assert workspace.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    for wrong in (np.zeros(4), np.zeros((2, 2), np.float32), np.zeros((3, 2))):
        with pytest.raises(StateMismatch, match=r"'a' is float.* but .* require float64\[2, 2\]"):
            take("it", "a", {"a": wrong}, workspace)
