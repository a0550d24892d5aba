"""RIBES's alignment: the words of a prediction whose place in the reference is certain.

That is a word that occurs once in both texts, or is in a run of words that does: the shortest that
begins or ends with it, or the former if both are equally long.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metrichub.text import InternedIds, offsets_of, positions_within, sort_equal, spans

NOWHERE, IN_CONTEXT = -1, -2
"""Where a word stands that the reference doesn't have, and one that either text has again."""


def places(words: InternedIds) -> list[list[int]]:
    """Where every word of every prediction stands in its reference, if both have it once."""
    sizes = np.diff(words.offsets)
    row = np.repeat(np.arange(len(sizes)), sizes)
    names = (row * (words.ids.max(initial=0) + 1) + words.ids).astype(np.uint64)
    order, changed = sort_equal(names)
    predicted = words.side == 0
    limits = np.flatnonzero(changed)
    first, last = order[limits[:-1]], order[limits[1:] - 1]
    both = predicted[first] & ~predicted[last]
    once = both & (np.diff(limits) == 2)
    place = np.full(len(names), NOWHERE)
    place[order] = np.repeat(np.where(both, IN_CONTEXT, NOWHERE), np.diff(limits))
    place[first[once]] = positions_within(words.segments)[last[once]]
    numbers = place[predicted].tolist()
    ends = offsets_of(np.diff(words.segments)[::2])
    return [numbers[start:end] for start, end in spans(ends)]


def in_context(starts: list[int], words: str, reference: str) -> Iterator[int]:
    """Where some words stand in the reference by the run of words around each, or `NOWHERE`."""
    last = len(words) - 1
    after = _sizes(starts, words, reference)
    backwards = _sizes([last - i for i in reversed(starts)], words[::-1], reference[::-1])
    for i, forth, back in zip(starts, after, reversed(backwards), strict=True):
        # The limit is nltk's; it keeps some words at both ends from their longest runs.
        limit = min(max(i, len(words) - i + 1), len(reference))
        follows, precedes = (size if size <= limit else 0 for size in (forth, back))
        if follows and (not precedes or follows <= precedes):
            yield reference.index(words[i : i + follows])
        elif precedes:
            yield reference.index(words[i + 1 - precedes : i + 1]) + precedes - 1
        else:
            yield NOWHERE


def _sizes(starts: list[int], words: str, reference: str) -> list[int]:
    """The length of the shortest run from each place on that both texts have once, or 0.

    A run has at least two words. None ends before that of an earlier place, as longer runs are
    rarer; nor is a run in the reference if a part of it isn't.
    """
    sizes, end = [], 0
    for i in starts:
        end, size = max(end, i + 2), 0
        while end <= len(words) and not size:
            run = words[i:end]
            place = reference.find(run)
            if place < 0:
                break
            if reference.find(run, place + 1) < 0 and words.find(run, words.find(run) + 1) < 0:
                size = end - i
            else:
                end += 1
        sizes.append(size)
    return sizes
