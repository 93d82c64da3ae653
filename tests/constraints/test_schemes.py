"""Tagging schemes against their definition, by enumeration of label sequences."""

from __future__ import annotations

import re
from itertools import pairwise, product

import numpy as np
import pytest

from fastcrf import CRF, Constraints, regularization_path
from fastcrf.constraints.schemes import order_of, scheme_of_names
from fastcrf.exceptions import ConstraintError, DataError
from fastcrf.metrics import segments

PATTERNS = {  # of the text of a sequence: a letter of the mark and one of the type for each label
    "BIO": r"((Bx(Ix)*)|(By(Iy)*)|O)*",
    "BIOES": r"((Bx(Ix)*Ex)|Sx|(By(Iy)*Ey)|Sy|O)*",
    "BILOU": r"((Bx(Ix)*Lx)|Ux|(By(Iy)*Ly)|Uy|O)*",
}
MARKS = {"BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU"}


def labels_of(scheme):
    return ["O", *(f"{mark}-{kind}" for mark in MARKS[scheme] for kind in "xy")]


def follows(scheme, labels):
    """Whether labels are those that the scheme writes for some segments."""
    if scheme != "IOB1":
        return re.fullmatch(PATTERNS[scheme], "".join(labels).replace("-", "")) is not None
    written, end, before = ["O"] * len(labels), 0, None
    for kind, first, last in segments(labels):
        written[first:last] = [f"I-{kind}"] * (last - first)
        if first == end and before == kind and first > 0:
            written[first] = f"B-{kind}"
        end, before = last, kind
    return written == list(labels)


@pytest.mark.parametrize("scheme", MARKS)
def test_the_rules_allow_exactly_what_the_scheme_writes(scheme):
    labels = labels_of(scheme)
    order = order_of(scheme, labels)
    for length in (1, 2, 3, 4) if len(labels) < 6 else (1, 2, 3):
        for path in product(range(len(labels)), repeat=length):
            allowed = order.first[path[0]] and order.last[path[-1]]
            allowed = allowed and all(order.transitions[j, k] for j, k in pairwise(path))
            assert allowed == follows(scheme, [labels[k] for k in path]), [labels[k] for k in path]


@pytest.mark.parametrize("scheme", MARKS)
def test_schemes_are_recognized(scheme):
    labels = labels_of(scheme)
    sequences = [
        [labels[k] for k in path]
        for path in product(range(len(labels)), repeat=3)
        if follows(scheme, [labels[k] for k in path])
    ]
    assert Constraints.from_labels([[], *sequences]) == Constraints(scheme)
    assert scheme_of_names([*labels, "I-only"] if scheme == "IOB1" else labels) == scheme
    with pytest.raises(ValueError, match=r"follow no scheme .* the labels are 'O', 'I-x', 'I-y', 'B-x'"):
        Constraints.from_labels([["O", "I-x", "I-y", "B-x", "O", "B-x"]])


def test_bare_marks_are_a_scheme_and_other_labels_are_outside():
    order = order_of("BIO", ["B", "I", "O"])
    assert order.transitions.tolist() == [[True] * 3, [True] * 3, [True, False, True]]
    assert order.first.tolist() == [True, False, True]
    order = order_of("BIO", ["B-x", "I-x", "Name", 3])
    assert order.transitions[2:].tolist() == [[True, False, True, True]] * 2


def test_a_scheme_must_fit_the_labels():
    with pytest.raises(ValueError, match="'E-x' has the mark E, which scheme='BIO' does not use; choose another"):
        order_of("BIO", ["B-x", "E-x"])
    with pytest.raises(ValueError, match="No scheme is known from the labels 'A', 'C'; name one: BIO, IOB1"):
        scheme_of_names(["A", "C"])
    with pytest.raises(ValueError, match="scheme must be one of BIO, IOB1, BIOES, BILOU, auto; got scheme='IOB'"):
        Constraints("IOB")


X = [[{"w": word} for word in line.split()] for line in ("a b c", "c a", "b b a c", "a", "c c b")] * 4
Y = [line.split() for line in ("B-X I-X O", "O B-X", "B-X B-X I-X O", "B-X", "O O B-X")] * 4


@pytest.fixture(scope="module")
def crf():
    return CRF().fit(X, Y)


def all_labelings(crf, n):
    return [list(path) for path in product(crf.classes_, repeat=n)]


@pytest.mark.parametrize(
    ("constraints", "right"),
    [
        (Constraints(allow=["O", "B-X"]), lambda y: "I-X" not in y),
        (Constraints(allow=[("O", "B-X"), ("B-X", "O")]), lambda y: all({*p} == {"O", "B-X"} for p in pairs(y))),
        (Constraints(forbid=["O"]), lambda y: "O" not in y),
        (Constraints(forbid=[("B-X", "O"), (None, "I-X"), ("O", None)]),
         lambda y: ("B-X", "O") not in pairs(y) and y[0] != "I-X" and y[-1] != "O"),
        (Constraints(first=["I-X"], last={"B-X", "O"}), lambda y: y[0] == "I-X" and y[-1] != "I-X"),
        (Constraints(dictionary={"w:a": ["B-X"], "w:b": ["O", "I-X"], "unknown": ["O"]}), lambda y: fits(y)),
        (Constraints("BIO", forbid=["B-X"]), lambda y: set(y) == {"O"}),
    ],
)  # fmt: skip
def test_allowed_label_sequences_are_those_of_the_definition(crf, constraints, right):
    """The probability of what is allowed, of each label sequence, and the best one, by enumeration."""
    X_one = [X[2]]
    labelings = all_labelings(crf, 4)
    plain = np.exp(crf.log_proba(X_one * len(labelings), labelings))
    allowed = np.array([right(y) for y in labelings])
    assert crf.constraint_proba(X_one, constraints=constraints)[0] == pytest.approx(plain[allowed].sum(), rel=1e-9)
    under = np.exp(crf.log_proba(X_one * len(labelings), labelings, constraints=constraints))
    np.testing.assert_allclose(under, np.where(allowed, plain, 0.0) / plain[allowed].sum(), rtol=1e-9)
    best = labelings[int(np.argmax(np.where(allowed, plain, 0.0)))]
    assert crf.predict(X_one, constraints=constraints) == [best]
    assert crf.predict_single(X_one[0], constraints=constraints) == best
    marginals = crf.predict_proba(X_one, constraints=constraints)[0]
    for t in range(4):
        for k, label in enumerate(crf.classes_):
            there = [y[t] == label for y in labelings]
            assert marginals[t, k] == pytest.approx(under[there].sum(), abs=1e-12)
    assert crf.predict_marginals(X_one, constraints=constraints)[0][1]["O"] == pytest.approx(
        marginals[1, crf.classes_.index("O")]
    )


def pairs(y):
    return list(pairwise(y))


def fits(y):
    """X[2] is b b a c."""
    return y[2] == "B-X" and all(label in ("O", "I-X") for label in y[:2])


def test_given_labels_are_kept_and_may_be_sets(crf):
    given = [[None, {"I-X", "O"}, "B-X", ["O"]]]
    labelings = all_labelings(crf, 4)
    plain = np.exp(crf.log_proba([X[2]] * len(labelings), labelings))
    right = [y[1] != "B-X" and y[2] == "B-X" and y[3] == "O" for y in labelings]
    assert crf.predict([X[2]], given=given) == [labelings[int(np.argmax(np.where(right, plain, 0.0)))]]
    assert crf.constraint_proba([X[2]], given=given)[0] == pytest.approx(plain[right].sum())
    assert crf.predict_single(X[2], given=given[0]) == crf.predict([X[2]], given=given)[0]
    assert crf.predict_marginals_single(X[2], given=given[0])[2] == {"B-X": 1.0, "I-X": 0.0, "O": 0.0}
    assert crf.predict(X[:2], given=[None, [None, None]]) == crf.predict(X[:2])
    assert crf.span_proba([X[2]], [["O", "O", "B-X", "O"]], [[(2, 4)]], given=given) == [[pytest.approx(1.0)]]


def test_contradictions_name_sequence_position_and_labels(crf):
    with pytest.raises(ConstraintError) as caught:
        crf.predict(X[:2], constraints="BIO", given=[[None] * 3, ["I-X", None]])
    assert str(caught.value) == (
        "X[1], position 0: the constraints contradict each other: given has 'I-X'; the end of a sequence may have "
        "'B-X', 'O'; change one of them."
    )
    for predict in (crf.predict, crf.predict_proba, crf.predict_marginals):
        with pytest.raises(ConstraintError) as caught:
            predict(X[:2], constraints="BIO", given=[["B-X", "O", "I-X"], None])
        assert str(caught.value) == (
            "X[0], position 2: the constraints allow only 'I-X', which may not follow 'O' at position 1; allow the "
            "transition, or other labels at one of the two."
        )
        assert (caught.value.sequence, caught.value.position) == (0, 2)
    impossible = crf.constraint_proba(X[:2], constraints="BIO", given=[["B-X", "O", "I-X"], ["I-X", None]])
    assert impossible.tolist() == [0.0, 0.0]
    with pytest.raises(ConstraintError, match="given has 'O'; the dictionary has 'B-X'; change"):
        crf.predict(X[:1], constraints=Constraints(dictionary={"w:a": ["B-X"]}), given=[["O", None, None]])


def test_given_labels_must_fit_x(crf):
    with pytest.raises(DataError, match="X has 1 sequences and given has 2"):
        crf.predict(X[:1], given=[None, None])
    with pytest.raises(DataError, match=r"X\[0\] has 3 items and given\[0\] has 1 entries"):
        crf.predict(X[:1], given=[["O"]])
    with pytest.raises(DataError, match=r"given\[0\], position 1: the model has no label 'P'; its labels are 'B-X'"):
        crf.predict(X[:1], given=[[None, "P", None]])


def test_constraints_name_labels_of_the_model(crf):
    with pytest.raises(ValueError, match="forbid has the label 'Y', but the labels of the model are 'B-X'"):
        crf.predict(X, constraints=Constraints(forbid=[("Y", "O")]))
    with pytest.raises(ValueError, match=r"first must be a collection of labels, such as \['O'\]; got 'O'"):
        Constraints(first="O")
    with pytest.raises(ValueError, match="constraints must be a Constraints object, the name of a scheme or None"):
        crf.predict(X, constraints=3)
    with pytest.raises(ValueError, match="dictionary='w:' is learned by fit"):
        crf.predict(X, constraints=Constraints(dictionary="w:"))
    with pytest.raises(ValueError, match="dictionary='q:': the name of no attribute of the data begins with it"):
        CRF(constraints=Constraints(dictionary="q:")).fit(X, Y)


def test_constraints_are_part_of_the_model_file(tmp_path):
    constraints = Constraints(
        "BIO", forbid=[("O", "O"), (None, "O")], last=["O", "B-X"], dictionary={"w:a": ["B-X", "I-X"]}
    )
    crf = CRF(constraints=constraints).fit(X, Y)
    crf.save(tmp_path / "model.crf")
    again = CRF.load(tmp_path / "model.crf")
    assert again.model_.constraints.dictionary == constraints.dictionary
    assert again.constraints == again.model_.constraints
    assert again.predict(X) == crf.predict(X) != crf.predict(X, constraints=None)
    assert all(("O", "O") not in pairs(y) for y in again.predict(X))
    assert CRF().fit(X, Y).model_.to_bytes().count(b"constraints") == 0, "files without constraints are as before"


def test_paths_and_streams_keep_constraints(tmp_path):
    crf = CRF(constraints=Constraints("auto", dictionary="w:", dictionary_min_count=1))
    model = regularization_path(X, Y, estimator=crf, c2_values=[1.0]).model(0)
    assert model.constraints.scheme == "BIO"
    assert model.constraints.dictionary["w:c"] == ("O",)
    with pytest.raises(ValueError, match="A path trains over all label sequences; set constrained_training=False"):
        regularization_path(X, Y, estimator=CRF(constraints="BIO", constrained_training=True), c2_values=[1.0])
    CRF(constraints="BIO").partial_fit(X, Y).save_stream(tmp_path / "stream.state")
    assert CRF.load_stream(tmp_path / "stream.state").constraints == Constraints("BIO")


def test_attributes_of_a_dictionary_stay_in_a_sparse_model():
    crf = CRF(constraints=Constraints(dictionary={"w:a": ["O"]}), c1=100.0, c2=0.1).fit(X, Y)
    assert crf.attributes_ == ["w:a"]
    assert crf.predict([X[3]]) == [["O"]]
