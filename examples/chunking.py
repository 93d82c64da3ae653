"""
Chunking with templates
=======================

Let a template of CRF++ make the attributes from columns, in Python and from the shell.

Run it with ``python examples/chunking.py``.
"""

# %%
# Columns and a template
# ----------------------
# A token is a row of columns, here the word and its tag. The template says which cells become
# attributes: ``%x[-1,0]`` is the word before, ``%x[0,1]`` the tag of the token. ``B`` asks for
# weights of label pairs.

import matplotlib.pyplot as plt

from fastcrf import CRF, metrics
from fastcrf.data.datasets.sentences import make_sentences
from fastcrf.displays import TransitionMatrixDisplay

TEMPLATE = """\
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]
U10:%x[-1,1]
U11:%x[0,1]
U12:%x[1,1]
U13:%x[-1,1]/%x[0,1]
U14:%x[0,1]/%x[1,1]
B
"""

corpus = make_sentences(1500, random_state=0)
X = [
    [list(row) for row in zip(words, tags, strict=True)] for words, tags in zip(corpus.words, corpus.tags, strict=True)
]
y = corpus.chunks
train, test = slice(0, 1000), slice(1000, 1500)
for row, label in zip(X[0], y[0], strict=True):
    print(*row, label)

# %%
# Train
# -----
# The model stores the template, so it tags raw rows.

crf = CRF(template=TEMPLATE, c2=1.0).fit(X[train], y[train])
scores = metrics.segment_scores(y[test], crf.predict(X[test]))
print(f"F1 of chunks {scores.overall.f1:.3f}")
print(f"{len(crf.attributes_)} attributes, for example {crf.attributes_[:4]}")

# %%
# Which template lines help?
# --------------------------
# Remove one line at a time and compare. Each fit takes a fraction of a second.

lines = TEMPLATE.splitlines()
loss = {}
for line in lines:
    shorter = "\n".join(other for other in lines if other != line) + "\n"
    model = CRF(template=shorter, c2=1.0).fit(X[train], y[train])
    loss[line] = scores.overall.f1 - metrics.segment_scores(y[test], model.predict(X[test])).overall.f1

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(2, 3))
axes[0].barh(list(loss), list(loss.values()))
axes[0].invert_yaxis()
axes[0].set(xlabel="F1 lost without this line")
TransitionMatrixDisplay.from_estimator(crf, numbers=False, ax=axes[1])
plt.show()

# %%
# From the shell
# --------------
# The commands read column files with the label last:
#
# .. code-block:: shell
#
#     fastcrf train train.txt -m chunks.crf --template template.txt
#     fastcrf evaluate test.txt -m chunks.crf
#     fastcrf tag new.txt -m chunks.crf
#
# ``--template`` also reads the patterns of Wapiti and the scripts of CRFsuite
# (:doc:`/how-to/templates`).
#
# A real corpus
# -------------
# fastcrf downloads CoNLL-2000, the corpus of this task, from its official address. Its rows have
# the same two columns:
#
# .. code-block:: python
#
#     from fastcrf.data.datasets.loaders import load_conll2000
#
#     X, y = load_conll2000(subset="train", return_X_y=True)
#     crf = CRF(template=TEMPLATE, c2=1.0).fit(X, y)
