from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.encoding.vocabulary import growing, names_by_id, pack_names, unpack_names

any_text = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates too


@given(st.lists(any_text, unique=True), st.lists(any_text))
def test_new_names_get_the_next_ids_and_old_names_keep_theirs(known, looked_up):
    old = {name: k for k, name in enumerate(known)}
    ids = growing(old)
    for name in looked_up:
        ids[name]
    assert names_by_id(ids) == list(dict.fromkeys(known + looked_up))
    assert old == {name: k for k, name in enumerate(known)}


@given(st.lists(any_text))
def test_names_survive_packing(names):
    block, offsets = pack_names(names)
    assert (block.dtype, offsets.dtype) == (np.uint8, np.int64)
    assert (offsets[0], offsets[-1], len(offsets)) == (0, len(block), len(names) + 1)
    assert unpack_names(block, offsets) == names
