"""
Parts of speech: many labels
============================

Train with 45 labels, measure how training time grows with the number of labels, and drop rare attributes.

Run it with ``python examples/parts_of_speech.py``.
"""

# %%
# The data
# --------
# The labels are the tags of the Penn Treebank. A gradient takes time proportional to the square
# of the number of labels.

import matplotlib.pyplot as plt
import numpy as np

from fastcrf import CRF
from fastcrf.data.datasets.sentences import make_sentences
from fastcrf.displays import TransitionMatrixDisplay

corpus = make_sentences(2000, random_state=0)
y = corpus.tags


def describe(words):
    """Return attributes as strings: the word, its affixes, its shape and its neighbors."""
    padded = ["<s>", *(word.lower() for word in words), "</s>"]
    return [
        [
            f"word={padded[t]}",
            f"suffix2={padded[t][-2:]}",
            f"suffix3={padded[t][-3:]}",
            f"prefix={padded[t][:2]}",
            f"title={words[t - 1].istitle()}",
            f"digit={words[t - 1][0].isdigit()}",
            f"before={padded[t - 1]}",
            f"after={padded[t + 1]}",
        ]
        for t in range(1, len(words) + 1)
    ]


X = [describe(words) for words in corpus.words]
train, test = slice(0, 1500), slice(1500, 2000)

# %%
# Train
# -----
# Attributes that occur once seldom help. ``min_count=2`` drops them.

for min_count in (1, 2, 5):
    crf = CRF(c2=0.1, min_count=min_count).fit(X[train], y[train])
    accuracy = crf.score(X[test], y[test])
    print(f"min_count={min_count}: {len(crf.state_features_):6} weights, token accuracy {accuracy:.2%}")
print(f"{len(crf.classes_)} labels")

# %%
# What labels cost
# ----------------
# Merge tags by their first letters and measure a fit of 30 iterations.

sizes, seconds = [], []
for length in (1, 2, 3, 5):
    merged = [[tag[:length] for tag in tags] for tags in y[train]]
    model = CRF("lbfgs", c2=0.1, tol=None, max_iterations=30, n_jobs=1)
    model.fit(X[train], merged)
    sizes.append(len(model.classes_))
    seconds.append(model.history_[-1]["seconds"])

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(sizes, np.array(seconds), "o-")
ax.set(xlabel="labels", ylabel="seconds for 30 iterations, one thread", xlim=(0, None), ylim=(0, None))
plt.show()

# %%
# Transitions
# -----------
# Blank cells are pairs that do not occur in training; they score 0.

crf = CRF(c2=0.1, min_count=2).fit(X[train], y[train])
figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
TransitionMatrixDisplay.from_estimator(crf, ax=ax)
plt.show()

# %%
# Confusions
# ----------

predicted = crf.predict(X[test])
errors = {}
for tags, found in zip(y[test], predicted, strict=True):
    for tag, other in zip(tags, found, strict=True):
        if tag != other:
            errors[tag, other] = errors.get((tag, other), 0) + 1
for (tag, other), times in sorted(errors.items(), key=lambda pair: -pair[1])[:5]:
    print(f"{tag:4} tagged as {other:4} {times} times")

# %%
# A real corpus
# -------------
# Universal Dependencies for English (EWT) has 49 tags and 204,577 training tokens. With its files
# in the folder that ``FASTCRF_DATA`` names (:doc:`/how-to/data-sets` describes the folder):
#
# .. code-block:: python
#
#     from fastcrf.data.datasets.loaders import load_ud_ewt_xpos
#
#     rows, y = load_ud_ewt_xpos(subset="train", return_X_y=True)
#     X = [describe([row[0] for row in sentence]) for sentence in rows]
#     crf = CRF(c2=0.1, min_count=2, verbose=True).fit(X, y)
