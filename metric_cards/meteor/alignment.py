"""Pairing: which tokens of a prediction stand for which of a reference, as METEOR aligns them.

Equal tokens are paired from the end: the last with the last, the one before with the one before.
That is what nltk's search from right to left finds, and needs one sort for all rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from metrichub.text import (
    Flags,
    Integers,
    Texts,
    Tokenizer,
    Tokens,
    intern_both,
    intern_tokens,
    porter,
    positions_within,
    row_sums,
    sort_rows,
    start_runs,
)

Synonyms = Callable[[str], Collection[str]]
NOBODY = -2
"""Stands for the partner of a token without one; no neighbour of it is the partner of another."""


class Pairs(NamedTuple):
    """Pairs of tokens, and chunks: runs of pairs that are neighbours in both texts; each (N,)."""

    pairs: Integers
    chunks: Integers


def pair_tokens(
    prediction: Texts, reference: Texts, tokenizer: Tokenizer, synonyms: Synonyms | None = None
) -> Pairs:
    """Pairs of equal tokens, then of those left equal stems, then of those left synonyms.

    `synonyms` gives those of a stem; the stem itself is one in any case.
    """
    texts = intern_both(prediction, reference, tokenizer)
    partner = np.full(len(texts.ids), NOBODY, np.int64)
    predicted = texts.side == 0
    free = np.ones(len(partner), np.bool_)
    _join(partner, free, _equal(texts.ids, predicted, texts.offsets))
    left = _unpaired(free, texts.segments)
    stems = Tokens.joined(
        prediction.tokens(tokenizer).select(left[predicted]),
        reference.tokens(tokenizer).select(left[~predicted]),
    )
    # Each prediction before its reference, as their ids are.
    stems = stems.take(np.arange(2 * len(prediction)).reshape(2, -1).T.ravel()).map(porter)
    where, rows = np.flatnonzero(left), stems.offsets[::2]
    _join(partner, free, _equal(intern_tokens(stems, rows), predicted[where], rows), where)
    if synonyms:
        still = free[where]
        stems, where = stems.select(still), where[still]
        _join(partner, free, _related(stems, synonyms), where)
    return _counted(partner, texts.offsets)


def _join(
    partner: Integers,
    free: Flags,
    pairs: tuple[Integers, Integers],
    where: Integers | None = None,
) -> None:
    """Note the pairs that were found among all tokens or those at `where`."""
    predicted, expected = pairs if where is None else (where[side] for side in pairs)
    partner[predicted] = expected
    free[predicted] = free[expected] = False


def _unpaired(free: Flags, offsets: Integers) -> Flags:
    """The free tokens of the rows that have some on both sides, (T,)."""
    rows = row_sums(free, offsets).reshape(-1, 2).all(axis=1)
    return free & np.repeat(np.repeat(rows, 2), np.diff(offsets))


def _equal(ids: Integers, predicted: Flags, offsets: Integers) -> tuple[Integers, Integers]:
    """The places of equal tokens of both texts, the k-th from the end with the k-th from it."""
    width = np.uint64(int(np.diff(offsets).max(initial=0)).bit_length())
    keys = ids.astype(np.uint64) << width
    keys |= positions_within(offsets).astype(np.uint64)
    sort_rows(keys, offsets)
    place = (keys & ((np.uint64(1) << width) - np.uint64(1))).astype(np.int64)
    place += np.repeat(offsets[:-1], np.diff(offsets))
    changed = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:] >> width, keys[:-1] >> width, out=changed[1:-1])
    start_runs(changed, offsets)
    limits = np.flatnonzero(changed)
    ours = row_sums(predicted[place], limits)
    theirs = np.diff(limits) - ours
    # Within a run the prediction's places come first: a partner stands `theirs` places further on.
    run = np.cumsum(changed[:-1]) - 1
    behind = np.arange(len(place)) - (limits[:-1] + ours - theirs)[run]
    matched = np.flatnonzero(predicted[place] & (behind >= 0))
    return place[matched], place[matched + theirs[run[matched]]]


def _related(stems: Tokens, synonyms: Synonyms) -> tuple[Integers, Integers]:
    """The places of synonyms: from the end, each takes the last free one in the reference."""
    predicted: list[int] = []
    expected: list[int] = []
    words = stems.all_strings()
    for row in range(0, len(words), 2):
        start, middle = stems.offsets[row : row + 2].tolist()
        free: defaultdict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(words[row + 1], middle):
            free[word].append(place)
        for place in range(middle - 1, start - 1, -1) if free else ():
            word = words[row][place - start]
            last = [free[near][-1] for near in {*synonyms(word), word} if free.get(near)]
            if last:
                predicted.append(place)
                expected.append(max(last))
                free[words[row + 1][max(last) - middle]].pop()
    return np.array(predicted, np.int64), np.array(expected, np.int64)


def _counted(partner: Integers, offsets: Integers) -> Pairs:
    paired = partner >= 0
    begins = paired.copy()
    begins[1:] &= partner[1:] != partner[:-1] + 1
    return Pairs(row_sums(paired, offsets), row_sums(begins, offsets))
