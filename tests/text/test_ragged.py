"""Ragged arrays and sorted keys, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text import offsets_of, ragged, sort_equal, sort_rows
from metrichub.text.tokenize import tokens

# Alike but for the lowest bits, where positions go; and few enough to be equal often.
KEYS = st.sampled_from([0, 1, 2, 3, 2**40, 2**64 - 1, 2**64 - 2, 2**63, 2**63 + 1])


@given(st.lists(KEYS, max_size=30))
def test_equal_keys_stand_together_in_their_order(keys):
    order, changed = sort_equal(np.array(keys, np.uint64))
    assert order.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
    ordered = [keys[place] for place in order.tolist()]
    assert changed.tolist() == [
        *(i == 0 or ordered[i] != ordered[i - 1] for i in range(len(ordered))),
        True,
    ]


def test_the_given_keys_are_not_changed():
    keys = np.array([3, 1, 2], np.uint64)
    sort_equal(keys)
    assert keys.tolist() == [3, 1, 2]


# Of a few bits, so that rows are sorted together; of all bits, so that they can't be.
ROWS = st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 2**20, 2**59]), max_size=9), max_size=40)


@pytest.mark.parametrize("together", [1, 20, 1000])
@pytest.mark.parametrize("widest", [0, 2**64 - 1])
@given(rows=ROWS)
def test_every_row_is_sorted(together, widest, rows):
    rows = [*rows, [widest]]
    keys = np.array([key for row in rows for key in row], np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "TOGETHER", together)
        sort_rows(keys, offsets_of(np.array([len(row) for row in rows])))
    assert keys.tolist() == [key for row in rows for key in sorted(row)]


@pytest.mark.parametrize("mix", [tokens._mix, lambda keys: keys + np.uint64(1), np.zeros_like])
@given(keys=st.lists(KEYS, max_size=30))
def test_equal_keys_find_the_same_one(mix, keys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_mix", mix)
        places = tokens.first_equal(np.array(keys, np.uint64)).tolist()
    assert [keys[place] for place in places] == keys
    assert len(set(places)) == len(set(keys))
