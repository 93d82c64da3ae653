"""Models of CRF++ and Wapiti tag as their own programs do.

`fixtures/` holds models that `crf_learn -t` and `wapiti train` made of made-up words (some with the slashes that also
stand between macros), and what `crf_test -v2`, `crf_test -n 8`, `wapiti label` and `wapiti label -s -n 3` print for
`columns.txt`.

`wapiti-forced-columns.txt` has a column more, with some labels of the model at random and ? elsewhere, and
`wapiti-forced-labels.txt` is what `wapiti label --force` makes of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fastcrf.cli.main import app
from fastcrf.data.encoding.encoder import Encoder
from fastcrf.data.files.conll import read_columns
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange.named_weights import divisions
from fastcrf.model.model import Model
from fastcrf.model.scored import scored

FIXTURES = Path(__file__).parent / "fixtures"
CRFPP, WAPITI = ((FIXTURES / f"{name}-model.txt").read_bytes() for name in ("crfpp", "wapiti"))
ROUNDED = 1e-6  # what the programs print has six decimals, and CRF++ keeps weights in single precision


def sentences():
    return [sentence.rows for sentence in read_columns(FIXTURES / "columns.txt")]


def blocks(name):
    return [block.split("\n") for block in (FIXTURES / name).read_text().strip("\n").split("\n\n")]


def probability_of(text):
    label, _, probability = text.rpartition("/")
    return label, float(probability)


@pytest.mark.parametrize("again", [False, True], ids=["read", "saved and read"])
def test_a_crfpp_model_gives_the_labels_and_probabilities_of_crf_test(again):
    model = Model.from_bytes(CRFPP)
    model = Model.from_bytes(model.to_bytes()) if again else model
    for found, (head, *lines) in zip(scored(model, sentences()), blocks("crfpp-output.txt"), strict=True):
        assert found.probability == pytest.approx(float(head.removeprefix("# ")), abs=ROUNDED)
        for label, row, line in zip(found.labels, found.marginals, lines, strict=True):
            best, *every = (probability_of(field) for field in line.split("\t")[3:])
            assert label == best[0]
            assert row == pytest.approx(dict(every), abs=ROUNDED)


@pytest.mark.parametrize("again", [False, True], ids=["read", "saved and read"])
def test_a_wapiti_model_gives_the_labels_and_probabilities_of_wapiti_label(again):
    model = Model.from_bytes(WAPITI)
    model = Model.from_bytes(model.to_bytes()) if again else model
    assert model.predict(sentences()) == blocks("wapiti-labels.txt")
    for rows, (_, *lines) in zip(model.predict_marginals(sentences()), blocks("wapiti-output.txt"), strict=True):
        for row, line in zip(rows, lines, strict=True):
            label, probability = probability_of(line.split("\t")[-1])
            assert row[label] == pytest.approx(probability, abs=ROUNDED)
            assert max(row.values()) == row[label]


def test_the_template_and_the_columns_are_kept():
    crfpp, wapiti = Model.from_bytes(CRFPP), Model.from_bytes(WAPITI)
    assert crfpp.input == {"kind": "template", "n_columns": 2}
    assert crfpp.attributes.template.text.startswith("U00:%x[-1,0]\nU01:")
    assert wapiti.input == {"kind": "template", "n_columns": 2, "more_columns": True}
    assert wapiti.attributes.template.kind == "wapiti"


def test_every_way_to_read_a_name_gets_its_weights():
    """CRF++ does not tell "a/b" before "c" from "a" before "b/c"."""
    model = Model.from_bytes(CRFPP)
    weights = [model.state_features_.get(("U02:x/y/z/a/b", label), 0.0) for label in model.labels]
    assert any(weights)
    encoder = Encoder(model.attributes)
    one, other = (encoder.encode_one([[a, "N"], [b, "N"]]) for a, b in (("x/y/z", "a/b"), ("x/y/z/a", "b")))
    names = model.attributes.names()
    assert "U02:x/y/z/a/b" in [names[a] for a in one.attributes]
    assert "U02:x/y/z/a/b" in [names[a] for a in other.attributes]
    assert sorted(divisions("b/a/b", ["/", ""])) == [("b", "a/b"), ("b/a", "b")]
    assert sorted(divisions("ab", ["", "", ""])) == [
        ("", "", "ab"),
        ("", "a", "b"),
        ("", "ab", ""),
        ("a", "", "b"),
        ("a", "b", ""),
        ("ab", "", ""),
    ]


def test_the_cost_factor_of_crfpp_multiplies_the_weights():
    doubled = Model.from_bytes(CRFPP.replace(b"cost-factor: 1\n", b"cost-factor: 2\n"))
    np.testing.assert_allclose(doubled.weights, 2 * Model.from_bytes(CRFPP).weights)


def wapiti_model(patterns, observations, weights, kind=2, labels=("A", "B")):
    """A Wapiti model written by hand."""

    def strings(every):
        return "".join(f"{len(text.encode())}:{text},\n" for text in every)

    reader = f"#rdr#{len(patterns)}/0/0\n{strings(patterns)}#qrk#{len(labels)}\n{strings(labels)}"
    tail = "".join(f"{place}={float(weight).hex()}\n" for place, weight in weights.items())
    head = f"#mdl#{kind}#{len(weights)}\n"
    return f"{head}{reader}#qrk#{len(observations)}\n{strings(observations)}{tail}".encode()


def test_a_wapiti_model_without_patterns_takes_items():
    model = Model.from_bytes(wapiti_model([], ["u:é", "*"], {0: 2.0, 5: -1.0}))
    assert model.input == {"kind": "items"}
    assert model.state_features_ == {("u:é", "A"): 2.0}
    assert model.transition_features_ == {("A", "B"): -1.0}
    assert model.predict_single([["u:é"], ["u:unknown"]]) == ["A", "A"]


SOUND = wapiti_model(["u:%x[0,0]", "*"], ["u:a", "*"], {0: 2.0, 5: -1.0})


def test_given_labels_lead_to_the_labels_of_forced_decoding_by_wapiti():
    model = Model.from_bytes(WAPITI)
    rows = [sentence.rows for sentence in read_columns(FIXTURES / "wapiti-forced-columns.txt")]
    given = [[None if row[-1] == "?" else row[-1] for row in sentence] for sentence in rows]
    forced = model.predict([[row[:-1] for row in sentence] for sentence in rows], given=given)
    assert forced == blocks("wapiti-forced-labels.txt") != blocks("wapiti-labels.txt")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (wapiti_model(["u:%x[0,0]"], ["u:a"], {0: 1.0}, kind=1), "is a MEMM"),
        (wapiti_model(["u:%x[0,0]"], ["u:a"], {0: 1.0}, kind=7), "of type 7, which is not known"),
        (SOUND.replace(b"#mdl#2#", b"#mdl#"), "an old version that does not say its type"),
        (wapiti_model(["b:%x[0,0]"], ["b:a"], {0: 1.0}), "its observation 'b:a' goes with pairs of labels"),
        (wapiti_model(["b:%x[0,0]", "u"], ["u"], {0: 1.0}), "cannot be converted: pattern of the model:1:3: bigram"),
        (SOUND.replace(b"0=", b"9="), "a weight beyond the last"),
        (SOUND.replace(b"5=", b"0="), "a weight twice"),
        (SOUND.replace(b"0=0x", b"0=inf#"), "a weight cannot be read"),
        (wapiti_model(["u"], ["u"], {0: float("inf")}), "a weight that is not finite"),
        (SOUND.replace(b"3:u:a,", b"9:u:a,"), "a string without an end"),
        (SOUND.replace(b"#qrk#2\n1:A", b"#qrk#x\n1:A"), "no labels where it should be"),
        (SOUND.replace(b"1:B", b"1:A"), "no labels, or one twice"),
        (SOUND.replace(b"u:a", b"x:a"), "begins with none of u, b"),
        (SOUND[:-25], "1 weights and says that it has 2"),
        (CRFPP.replace(b"maxid: ", b"maxid: x"), "no number 'maxid' in its header"),
        (CRFPP.replace(b"\nB\n\n", b"\nB%x[0,0]\n\n"), "cannot be converted: template of the model:8:2: bigram"),
        (CRFPP.replace(b" U00:the\n", b"999 U00:the\n"), "weights of the feature 'U00:the' beyond the last"),
        (CRFPP.replace(b" U00:the\n", b" X00:the\n"), "X00:the' is not a feature"),
        (CRFPP[:-20], "weights and says that it has"),
        (CRFPP[:-5] + b"x\n", "a weight is not a number"),
        (CRFPP[:100], "parts instead of header, labels, templates, features and weights"),
        (b"\x64\0\0\0\0\0\0\0" + bytes(40), "this is a binary model of CRF.*crf_learn -t"),
    ],
)
def test_what_cannot_be_read_says_why(data, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        Model.from_bytes(data)


def test_mutated_models_ends_in_an_error_or_tag_without_harm():
    random = np.random.default_rng(0)
    for sound in (CRFPP, WAPITI):
        tagged = 0
        for _ in range(300):
            data, marks = bytearray(sound), bytearray(b"019 :/\n#=,x%U-")
            for _ in range(random.integers(1, 4)):
                data[random.integers(len(data) // (1 + random.integers(3)))] = random.choice(marks)
            try:
                model = Model.from_bytes(bytes(data))
            except ModelFileError:
                continue
            tagged += 1
            if tagged % 20 == 0:
                assert set(model.labels).issuperset(*model.predict([[["the", "N"] * 3, ["b", "V"] * 3]]))
        assert 20 < tagged < 290


def ranked_blocks(name):
    """(rank, number, labels) of each block of n-best output."""
    for head, *lines in blocks(name):
        _, rank, number = head.split()
        yield int(rank), float(number), [line.split("\t")[-1] for line in lines]


def test_the_n_best_of_a_crfpp_model_are_those_of_crf_test():
    found = Model.from_bytes(CRFPP).predict_nbest(sentences(), 8)
    ours = [(rank, p, labels) for ranked in found for rank, (labels, p) in enumerate(ranked)]
    for (rank, p, labels), (their_rank, their_p, theirs) in zip(ours, ranked_blocks("crfpp-nbest.txt"), strict=True):
        assert (rank, labels) == (their_rank, theirs)
        assert p == pytest.approx(their_p, abs=ROUNDED)


def test_the_n_best_of_a_wapiti_model_are_those_of_wapiti_label():
    """Wapiti prints scores; differences of scores are those of log probabilities."""
    found = Model.from_bytes(WAPITI).predict_nbest(sentences(), 3)
    ours = [(rank, np.log(p / ranked[0][1]), y) for ranked in found for rank, (y, p) in enumerate(ranked)]
    best = 0.0
    for (rank, ratio, labels), (their_rank, score, theirs) in zip(ours, ranked_blocks("wapiti-nbest.txt"), strict=True):
        best = score if rank == 0 else best
        assert (rank, labels) == (their_rank, [label.split("/")[0] for label in theirs])
        assert ratio == pytest.approx(score - best, abs=3 * ROUNDED)


@pytest.mark.parametrize("form", ["crfpp", "wapiti"])
def test_tag_nbest_prints_the_form_of_their_programs(form, tmp_path):
    (tmp_path / "model").write_bytes(CRFPP if form == "crfpp" else WAPITI)
    options = ["--nbest", "8"] if form == "crfpp" else ["--nbest", "3", "--nbest-form", "wapiti", "--scores"]
    result = CliRunner().invoke(app, ["tag", str(FIXTURES / "columns.txt"), "-m", str(tmp_path / "model"), *options])
    theirs = (FIXTURES / f"{form}-nbest.txt").read_text()
    if form == "wapiti":  # it keeps the spaces between columns, and prints scores
        shown, theirs = (re.sub(r"-?\d+\.\d{6}", "?", text.replace(" ", "\t")) for text in (result.stdout, theirs))
        assert shown == theirs
    else:
        lines = [(re.sub(r"\d\.\d+", "?", a), re.sub(r"\d\.\d+(e-\d+)?", "?", b))
                 for a, b in zip(result.stdout.split("\n"), theirs.split("\n"), strict=True)]  # fmt: skip
        assert all(a == b for a, b in lines)
