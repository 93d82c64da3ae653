"""Small labeled corpora as users write them: three labels that follow each other, words that hint at them."""

from __future__ import annotations

import random

LABELS = "OBI"
WORDS = {"O": ["the", "of", "ran", "blue"], "B": ["Ada", "York", "Rio", "blue"], "I": ["King", "York", "of"]}
FOLLOWERS = {None: "OB", "O": "OOB", "B": "IIO", "I": "IOO"}


def toy_sequences(n=40, seed=0):
    """(X, y): n sequences of 1 to 6 dicts with strings, numbers, bools and nested features."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        labels, before = [], None
        for _ in range(rng.randint(1, 6)):
            before = rng.choice(FOLLOWERS[before])
            labels.append(before)
        words = [rng.choice(WORDS[label]) for label in labels]
        X.append([item(words, t) for t in range(len(words))])
        y.append(labels)
    return X, y


def item(words, t):
    word = words[t]
    features = {"word": word.lower(), "upper": word[0].isupper(), "length": len(word) / 10, "bias": 1.0}
    if t:
        features["before"] = {"word": words[t - 1].lower()}
    return features
