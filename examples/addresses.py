"""Label the parts of postal addresses, and say how sure the model is of each.

python examples/addresses.py
"""

from __future__ import annotations

from fastcrf import CRF
from fastcrf.data.datasets.addresses import address_items, make_addresses

tokens, labels = make_addresses(1000, random_state=0)
items = [address_items(address) for address in tokens]
train, held_out = slice(0, 800), slice(800, 1000)

crf = CRF(c2=0.5).fit(items[train], labels[train], X_dev=items[held_out], y_dev=labels[held_out])
print(f"{crf.n_iter_} steps; {crf.certificate_}; held-out accuracy {crf.history_[-1]['dev_accuracy']:.2%}")

for words, features in zip(tokens[held_out][:2], items[held_out][:2], strict=True):
    print()
    for word, label, chances in zip(
        words, crf.predict_single(features), crf.predict_marginals_single(features), strict=True
    ):
        print(f"{word:15} {label:15} {chances[label]:7.2%}")

print("\nStrongest transitions")
strongest = sorted(crf.transition_features_.items(), key=lambda pair: -pair[1])[:5]
for (before, after), weight in strongest:
    print(f"{before:15} -> {after:15} {weight:6.2f}")
