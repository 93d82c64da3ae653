"""
From sklearn-crfsuite in ten minutes
====================================

Run a program for sklearn-crfsuite without changes, then move it to ``fastcrf.CRF`` and compare the two.

Run it with ``python examples/from_sklearn_crfsuite.py``.
"""

# %%
# Without changes
# ---------------
# ``python -m fastcrf.compat program.py`` runs a program in which ``import sklearn_crfsuite``
# loads fastcrf. The lines below are those of sklearn-crfsuite's tutorial; only the import names
# fastcrf. sklearn-crfsuite need not be installed.

import matplotlib.pyplot as plt

from fastcrf import CRF, metrics
from fastcrf.compat import sklearn_crfsuite
from fastcrf.data.datasets.sentences import make_sentences
from fastcrf.displays import ConvergenceDisplay

corpus = make_sentences(1500, random_state=0)


def word2features(sentence, i):
    word = sentence[i]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    if i > 0:
        features.update({"-1:word.lower()": sentence[i - 1].lower(), "-1:word.istitle()": sentence[i - 1].istitle()})
    else:
        features["BOS"] = True
    if i < len(sentence) - 1:
        features["+1:word.lower()"] = sentence[i + 1].lower()
    else:
        features["EOS"] = True
    return features


X = [[word2features(sentence, i) for i in range(len(sentence))] for sentence in corpus.words]
y = corpus.entities
X_train, y_train, X_test, y_test = X[:1000], y[:1000], X[1000:], y[1000:]

old = sklearn_crfsuite.CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True).fit(
    X_train, y_train
)
labels = [label for label in old.classes_ if label != "O"]
predicted = old.predict(X_test)
print(f"weighted F1 {metrics.flat_f1_score(y_test, predicted, average='weighted', labels=labels):.4f}")

# %%
# Features, penalties and stopping criteria are CRFsuite's. The path to the optimum differs, so
# the last digits of the weights differ.
#
# With fastcrf
# ------------
# Remove ``algorithm`` and ``max_iterations``: the default solver, ``auto``, stops when the gap to
# the optimum is certified to be at most ``tol``. ``predict`` returns a list of lists.

new = CRF(c1=0.1, c2=0.1, all_possible_transitions=True).fit(X_train, y_train)
predicted = new.predict(X_test)
print(f"weighted F1 {metrics.flat_f1_score(y_test, predicted, average='weighted', labels=labels):.4f}")
print(new.stop_reason_)
print(new.certificate_)

# %%
# ``history_`` has a row per iteration, with the objective and the certified gap.

passes, objective = zip(*((row["passes"], row["objective"]) for row in new.history_), strict=True)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
axes[0].plot(passes, objective)
axes[0].set(xlabel="passes over the data", ylabel="objective", yscale="log")
ConvergenceDisplay.from_estimator(new, ax=axes[1])
plt.show()

# %%
# Scores by entity
# ----------------
# ``segment_scores`` counts whole entities, as conlleval does; an entity with one wrong token
# counts as wrong.

scores = metrics.segment_scores(y_test, predicted)
for kind, score in {**scores.by_type, "all": scores.overall}.items():
    print(f"{kind:4} precision {score.precision:.3f}  recall {score.recall:.3f}  F1 {score.f1:.3f}")

# %%
# What changes
# ------------
#
# =============================================  ==============================================
# sklearn-crfsuite                               fastcrf
# =============================================  ==============================================
# ``crf.tagger_.tag(xseq)``                      ``crf.predict_single(xseq)``
# ``crf.training_log_``                          ``crf.history_``
# ``sklearn_crfsuite.metrics``                   ``fastcrf.metrics``
# ``model_filename="m.crfsuite"``                ``crf.save("m.crfsuite")`` or ``crf.save("m.crf")``
# ``delta``, ``epsilon``, ``period``             ``tol``, or rules of ``fastcrf.stopping``
# =============================================  ==============================================
#
# :doc:`/how-to/from-crfsuite` lists every parameter.
#
# A real corpus
# -------------
# The tutorial of sklearn-crfsuite uses the Spanish part of CoNLL-2002. With its files in the
# folder that ``FASTCRF_DATA`` names (:doc:`/how-to/data-sets` describes the folder):
#
# .. code-block:: python
#
#     from fastcrf.data.datasets.loaders import load_conll2002_esp
#
#     rows, y = load_conll2002_esp(subset="train", return_X_y=True)
#     words = [[row[0] for row in sentence] for sentence in rows]
#     X = [[word2features(sentence, i) for i in range(len(sentence))] for sentence in words]
