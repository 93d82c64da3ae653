"""Which slots of the table have a weight."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.feature_space.layout import make_layout
from fastcrf.feature_space.support import feature_masks
from reference.random_corpora import random_features


@pytest.mark.parametrize("order", [1, 2])
def test_a_bit_is_set_for_each_weight_of_a_row_or_a_transition_and_for_nothing_else(order):
    features = random_features(0, n_labels=9, n_attributes=8, density=0.15, order=order)
    layout = make_layout(features)
    assert layout.n_cells > 0  # of attributes with few labels: the first lies right behind the rows
    assert (features.sources[0], features.targets[0]) != (0, 0)  # where that one would be, as a transition
    wanted = {divmod(int(place), layout.padded) for place in layout.place if place < layout.n_row_slots}
    rows = layout.n_rows + layout.rows_of(features)
    wanted |= set(zip(rows.tolist(), features.targets.tolist(), strict=True))
    masks = feature_masks(layout, features)
    found = {
        (row, panel * layout.width + lane)
        for row, panel in np.argwhere(masks)
        for lane in range(layout.width)
        if int(masks[row, panel]) >> lane & 1
    }
    assert found == wanted
