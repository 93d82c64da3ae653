"""NumPy makes the attributes that compiled code makes, and a template's first sentences need no compiler."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.template_engine import gatherer
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.template_engine.compiled_engine import ENGINE as COMPILED
from fastcrf.data.template_engine.plain_engine import ENGINE as PLAIN
from fastcrf.data.templates.dialects import parse_template

TEMPLATES = {
    "crfpp": "U00:%x[-2,0]\nU01:%x[8,0]\nU02:%x[0,0]/%x[1,0]/%x[-3,1]\nU:%x[0,0]\nU:%x[1,1]\nU\nB",
    "wapiti": 'u:%X[0,0]\nu:%x[-6,1]/%x[3,0]\nu:%m[0,0,"..$"]\nu:f=%x[@1,0]\nu:l=%x[@-2,0]/%x[0,0]\nu:o%x[@9,0]\n*',
    "crfsuite": "fields = 'w pos y'\ntemplates = ((('w', -1), ('w', 0)), (('pos', 0), ('pos', 2)), (('w', 0),))",
}
TAG_ONE = """
import sys
import fastcrf
print(fastcrf.load(sys.argv[1]).predict_single([["the", "N"], ["b", "V"]]))
print(*sorted({name.split(".")[0] for name in sys.modules} & {"numba", "scipy", "sklearn"}))
"""


def sentences(n, seed, words="abcdef"):
    rng = random.Random(seed)
    return [[[rng.choice(words), rng.choice("xyz")] for _ in range(rng.randint(0, 9))] for _ in range(n)]


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("n_training", [1, 3, 40])
def test_both_engines_make_the_same_attributes(kind, n_training, monkeypatch):
    X = [*sentences(n_training, seed=1), [["a", "x"]]]
    y = [["L"] * len(sentence) for sentence in X]
    template = parse_template(TEMPLATES[kind], kind)
    _, attributes, _ = encode_training(X, y, known=TemplateAttributes.empty(template))
    for seed in range(10):
        new = sentences(random.Random(seed).choice([1, 2, 30]), seed, "abcdefghi")
        monkeypatch.setattr(gatherer, "engine_for", lambda *_: COMPILED)
        compiled = Encoder(attributes).encode(new)
        monkeypatch.setattr(gatherer, "engine_for", lambda *_: PLAIN)
        plain = Encoder(attributes).encode(new)
        assert len(compiled.attributes) or not compiled.n_positions or n_training == 1
        for one, other in zip(compiled, plain, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_one_sentence_needs_no_compiler(request):
    path = request.config.rootpath / "tests" / "interchange" / "fixtures" / "crfpp-model.txt"
    output = subprocess.run(
        [sys.executable, "-c", TAG_ONE, str(path)], capture_output=True, text=True, check=True
    ).stdout
    assert output == "['B', 'O']\n\n"
