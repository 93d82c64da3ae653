"""Programs that were written for CRFsuite, each as its users use it; prints what they answer as one JSON object.

Run as it is, the answers are CRFsuite's; run by `python -m fastcrf.compat`, they are fastcrf's. A client that is not
installed answers null.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings
from importlib.util import find_spec

from fastcrf.data.datasets.addresses import make_addresses

ADDRESSES = [(" ".join(tokens), labels) for tokens, labels in zip(*make_addresses(200), strict=True)]
VIETNAMESE = [
    "Trường đại học bách khoa hà nội",
    "Tôi yêu Việt Nam và tiếng Việt rất nhiều",
    "Hôm nay trời nắng đẹp, chúng tôi đi chơi ở công viên thành phố Hồ Chí Minh",
    "Giá xăng dầu tăng mạnh trong năm 2023, người dân lo lắng",
    "Thủ tướng đã phát biểu tại hội nghị quốc tế về biến đổi khí hậu",
]
PEOPLE = [
    "Mr George 'Gob' Bluth II",
    "Sitwell Housing Inc",
    "Dr. Jane Q. Smith, Jr.",
    "The Law Office of Smith and Wesson, LLC",
    "Maria Garcia-Lopez & John Doe",
]


def usaddress():
    import usaddress

    return [usaddress.parse(text) for text, _ in ADDRESSES]


def probablepeople():
    import probablepeople

    kinds = (None, "person", "company")
    return [
        probablepeople.parse(text, type=kind) if kind else probablepeople.parse(text)
        for text in PEOPLE
        for kind in kinds
    ]


def parserator():
    """A parser is trained on labelled addresses, as `parserator train` does, and tags others with its model file."""
    import pycrfsuite
    import usaddress as module
    from parserator.training import trainModel

    labelled = [(text, list(zip(text.split(" "), labels, strict=True))) for text, labels in ADDRESSES]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "learned_settings.crfsuite")
        trainModel(labelled[:150], module, path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        return [tagger.tag(module.tokens2features(text.split(" "))) for text, _ in labelled[150:]]


def nltk():
    """Trains, saves, tags, and tags again from the file."""
    from nltk import data
    from nltk.tag import CRFTagger

    tagged = [list(zip(text.split(" "), labels, strict=True)) for text, labels in ADDRESSES]
    new = [[token for token, _ in sentence] for sentence in tagged[150:]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.crf.tagger")
        data.path.append(folder)  # NLTK reads and writes models nowhere else
        tagger = CRFTagger()
        tagger.train(tagged[:150], path)
        loaded = CRFTagger()
        loaded.set_model_file(path)
        answers = tagger.tag_sents(new)
        assert loaded.tag_sents(new) == answers
        return {"tags": answers, "accuracy": loaded.accuracy(tagged[150:])}


def pyvi():
    """Its models are pickles of sklearn_crfsuite.CRF, and a .crfsuite file."""
    from pyvi import ViPosTagger, ViTokenizer

    tokenized = [ViTokenizer.tokenize(text) for text in VIETNAMESE]
    return [tokenized, [ViPosTagger.postagging(text) for text in tokenized]]


def eli5():
    """The weights, as eli5 explains them."""
    from eli5 import explain_weights

    crf = exact_crf().fit(*made_up(40))
    explained = explain_weights(crf, top=4)
    targets = [
        [target.target, sorted([weight.feature, weight.weight] for weight in target.feature_weights.pos)]
        for target in explained.targets
    ]
    return {"targets": targets, "transitions": explained.transition_features.coef.tolist()}


def tutorial():
    """The CoNLL-2002 tutorial of sklearn-crfsuite: a randomized search for c1 and c2, then the best model's answers."""
    from collections import Counter

    from scipy.stats import expon
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import RandomizedSearchCV
    from sklearn_crfsuite import CRF, metrics

    X, y = made_up(60)
    labels = ["B", "I"]
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    crf = CRF(algorithm="lbfgs", max_iterations=100, all_possible_transitions=True)
    space = {"c1": expon(scale=0.5), "c2": expon(scale=0.05)}
    search = RandomizedSearchCV(crf, space, cv=3, n_iter=4, scoring=scorer, random_state=0).fit(X, y)
    best = search.best_estimator_
    answers = best.predict(made_up(20, seed=1)[0])
    return {
        "best": search.best_params_,
        "scores": search.cv_results_["mean_test_score"].tolist(),
        "answers": [list(each) for each in answers],
        "classes": list(best.classes_),
        "report": metrics.flat_classification_report(y, best.predict(X), labels=labels, digits=3),
        "likeliest": [list(pair) for pair, _ in Counter(best.transition_features_).most_common(1)],
    }


def exact_crf():
    """Trained as far as double precision goes, so that weights can be compared."""
    from sklearn_crfsuite import CRF

    return CRF(c2=0.1, delta=1e-12, period=20, epsilon=1e-9, max_iterations=1000)


def made_up(n, seed=0):
    """Sequences with names in them: capitals mark a name, after a few words they do not."""
    draw = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        words, labels, name = [], [], False
        for _ in range(draw.randint(3, 9)):
            name = draw.random() < (0.5 if name else 0.3)
            labels.append(("I" if labels and labels[-1] != "O" else "B") if name else "O")
            words.append(draw.choice(["Anna", "Berg", "Cruz", "the"] if name else ["the", "sees", "on", "Monday"]))
        X.append([features(words, t) for t in range(len(words))])
        y.append(labels)
    return X, y


def features(words, t):
    return {
        "bias": 1.0,
        "word.lower()": words[t].lower(),
        "word.istitle()": words[t].istitle(),
        "-1:word": words[t - 1] if t else "BOS",
    }


CLIENTS = (usaddress, probablepeople, parserator, nltk, pyvi, eli5, tutorial)
NEEDS = {"tutorial": ("sklearn_crfsuite",), "parserator": ("parserator", "usaddress")}


def answer_of(client):
    needed = NEEDS.get(client.__name__, (client.__name__,))
    return client() if all(find_spec(name) for name in needed) else None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen = [client for client in CLIENTS if client.__name__ in sys.argv[1:] or not sys.argv[1:]]
    print(json.dumps({client.__name__: answer_of(client) for client in chosen}, default=list))
