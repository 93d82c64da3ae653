"""Hypothesis strategies for items and corpora as users write them."""

from __future__ import annotations

from hypothesis import strategies as st

# NUL ends a C string, so python-crfsuite cannot serve as reference for names that contain it
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
byte_names = names.map(lambda name: name.encode("utf-8"))
keys = names | byte_names
numbers = st.booleans() | st.integers(-3, 3) | st.floats(-1e6, 1e6)
collections = st.lists(keys, max_size=3) | st.sets(keys, max_size=3)
values = st.recursive(
    names | byte_names | numbers | collections,
    lambda inner: st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
items = (
    st.dictionaries(keys, values, max_size=4)
    | st.dictionaries(names, names, max_size=4)
    | st.lists(names, max_size=4)
    | st.lists(keys, max_size=4).map(tuple)
    | st.sets(keys, max_size=4)
    | names
)

quarters = st.integers(-8, 8).map(lambda n: n / 4)  # sums of these are exact in any order
few_names = st.sampled_from("abcde")
few_items = st.dictionaries(few_names, quarters, max_size=3) | st.lists(few_names, max_size=4)


@st.composite
def labeled_corpora(draw):
    """(X, y) with few attributes and labels, fractional and negative values, repeated attributes, empty sequences."""
    X = draw(st.lists(st.lists(few_items, max_size=4), min_size=1, max_size=5).filter(any))
    y = [draw(st.lists(st.sampled_from("XYZ"), min_size=len(x), max_size=len(x))) for x in X]
    return X, y
