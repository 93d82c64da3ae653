"""
Named entities with a feature function
======================================

Write the attributes of a token by hand, train on sentences with persons, places and organizations, and read the errors.

Run it with ``python examples/entities.py``.
"""

# %%
# The data
# --------
# Entities are marked in IOB2: ``B-PER`` begins a person, ``I-PER`` continues one, ``O`` is
# outside. The sentences are generated.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from fastcrf import CRF, metrics
from fastcrf.data.datasets.sentences import make_sentences
from fastcrf.displays import TopFeaturesDisplay, TransitionMatrixDisplay

corpus = make_sentences(2000, random_state=0)
for word, label in zip(corpus.words[4], corpus.entities[4], strict=True):
    print(f"{word:12} {label}")

# %%
# A feature function
# ------------------
# It returns a dict per token. Strings become attributes ``name:value``, True counts as 1, False
# is left out, and numbers are values.


def describe(words):
    """Return the attributes of each token of a sentence."""
    items = [
        {
            "word": word.lower(),
            "suffix": word[-3:].lower(),
            "title": word.istitle(),
            "digit": word[0].isdigit(),
            "length": min(len(word), 10) / 10,
        }
        for word in words
    ]
    for here, after in pairwise(items):
        here["next word"], after["previous word"] = after["word"], here["word"]
        here["next title"], after["previous title"] = after["title"], here["title"]
    return items


X = [describe(words) for words in corpus.words]
y = corpus.entities
train, test = slice(0, 1500), slice(1500, 2000)
print(X[4][0])

# %%
# Train and score
# ---------------
# A segment is correct if its type, first token and last token are all correct.

crf = CRF(c2=0.1).fit(X[train], y[train])
predicted = crf.predict(X[test])
scores = metrics.segment_scores(y[test], predicted)
for kind, score in {**scores.by_type, "all": scores.overall}.items():
    print(f"{kind:4} precision {score.precision:.3f}  recall {score.recall:.3f}  F1 {score.f1:.3f}")

# %%
# Read the errors
# ---------------
# Which types are confused? Rows are the true labels.

names = sorted(crf.classes_)
place = {label: k for k, label in enumerate(names)}
confusion = np.zeros((len(names), len(names)), int)
for true, found in zip(metrics.flatten(y[test], predicted)[0], metrics.flatten(y[test], predicted)[1], strict=True):
    confusion[place[true], place[found]] += 1

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.imshow(np.log1p(confusion), cmap="Blues")
for j, k in np.ndindex(confusion.shape):
    ax.text(k, j, confusion[j, k], ha="center", va="center", color="white" if confusion[j, k] > 100 else "black")
ax.set_xticks(range(len(names)), names, rotation=45)
ax.set_yticks(range(len(names)), names)
ax.set(xlabel="predicted", ylabel="true")
plt.show()

# %%
# The least certain sentence, with the probability of each label:

log_probabilities = crf.log_proba(X[test], predicted)
worst = int(np.argmin(log_probabilities))
words, marginals = corpus.words[test][worst], crf.predict_marginals_single(X[test][worst])
print(f"probability of all labels together: {np.exp(log_probabilities[worst]):.3f}")
for word, true, found, chances in zip(words, y[test][worst], predicted[worst], marginals, strict=True):
    print(f"{word:12} true {true:6} predicted {found:6} {chances[found]:.2f}{'   <--' if true != found else ''}")

# %%
# What the model has learned
# --------------------------
# ``I-PER`` after ``O`` has no weight because it does not occur in training.
# ``all_possible_transitions=True`` gives such pairs a weight, which training makes negative.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
TopFeaturesDisplay.from_estimator(crf, label="B-LOC", n=8, ax=axes[0])
TransitionMatrixDisplay.from_estimator(crf, ax=axes[1])
plt.show()

# %%
# A real corpus
# -------------
# With the files of CoNLL-2002 in the folder that ``FASTCRF_DATA`` names (:doc:`/how-to/data-sets` describes
# the folder):
#
# .. code-block:: python
#
#     from fastcrf.data.datasets.loaders import load_conll2002_ned
#
#     rows, y = load_conll2002_ned(subset="train", return_X_y=True)
#     X = [describe([row[0] for row in sentence]) for sentence in rows]
#     crf = CRF(c2=0.1).fit(X, y)
