"""Ragged arrays and sorted keys, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text import sort_equal

# Alike but for the lowest bits, where positions go; and few enough to be equal often.
KEYS = st.sampled_from([0, 1, 2, 3, 2**40, 2**64 - 1, 2**64 - 2, 2**63, 2**63 + 1])


@given(st.lists(KEYS, max_size=30))
def test_equal_keys_stand_together_in_their_order(keys):
    order, changed = sort_equal(np.array(keys, np.uint64))
    assert order.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
    found = [keys[place] for place in order.tolist()]
    assert changed.tolist() == [
        *(i == 0 or found[i] != found[i - 1] for i in range(len(found))),
        True,
    ]


def test_the_given_keys_are_not_changed():
    keys = np.array([3, 1, 2], np.uint64)
    sort_equal(keys)
    assert keys.tolist() == [3, 1, 2]
