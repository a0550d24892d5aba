"""RIBES's alignment: the words of a prediction whose place in the reference is certain.

That is a word that occurs once in both texts, or is in a run of words that does: the shortest that
begins or ends with it, or the former if both are equally long.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metrichub.text import Integers, InternedIds, positions_within, sort_equal, spans

NOWHERE, _IN_CONTEXT = -1, -2
"""Where a word stands that the reference doesn't have, and one that either text has again."""
_LONGEST = 4
"""Runs of up to so many words are looked for in all texts at once; few words need longer ones."""
_UNKNOWN = np.int64(1 << 40)


def places(words: InternedIds) -> Integers:
    """Where every word of every prediction stands in its reference, or `NOWHERE`, (P,)."""
    sizes = np.diff(words.offsets)
    row = np.repeat(np.arange(len(sizes)), sizes)
    place = np.full(len(row), NOWHERE)
    names = row * (words.ids.max(initial=0) + 1) + words.ids
    first, last, at, gram = _once(words, names, np.arange(len(row)))
    position = positions_within(words.segments)
    place[first] = position[last]
    _place_in_context(words, position, at, gram, place)
    if (place == _IN_CONTEXT).any():
        _place_by_longer_runs(words, place)
    predicted: Integers = place[words.side == 0]
    return predicted


def _once(
    words: InternedIds, names: Integers, at: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Where names stand that both texts have once, (O,) each; where others of both, and which."""
    order, changed = sort_equal(names.astype(np.uint64))
    limits = np.flatnonzero(changed)
    ordered, counts = at[order], np.diff(limits)
    first, last = ordered[limits[:-1]], ordered[limits[1:] - 1]
    both = (words.side[first] == 0) & (words.side[last] != 0)
    once, again = both & (counts == 2), both & (counts > 2)
    which = np.repeat(np.arange(len(counts)), counts * again)
    return first[once], last[once], ordered[np.repeat(again, counts)], which


def _place_in_context(
    words: InternedIds, position: Integers, at: Integers, gram: Integers, place: Integers
) -> None:
    """Find, in place, the words of both texts that one has again by the short runs around each."""
    follows, ahead = _runs(words, position, at, gram, 1)
    precedes, behind = _runs(words, position, at, gram, -1)
    at = at[words.side[at] == 0]
    lengths = np.diff(words.segments)
    both = lengths[::2] + lengths[1::2]
    predicted, reference = np.repeat(lengths[::2], both), np.repeat(lengths[1::2], both)
    follows, precedes, ahead, behind = (array[at] for array in (follows, precedes, ahead, behind))
    unknown = (follows == _UNKNOWN) | (precedes == _UNKNOWN)
    # The limit is nltk's; it keeps some words at both ends from their longest runs.
    limit = np.minimum(np.maximum(position[at], predicted[at] - position[at] + 1), reference[at])
    follows, precedes = (
        np.where(follows <= limit, follows, 0),
        np.where(precedes <= limit, precedes, 0),
    )
    forth = (follows > 0) & ((precedes == 0) | (follows <= precedes))
    place[at] = np.where(forth, ahead, np.where(precedes > 0, behind, NOWHERE))
    place[at[unknown]] = _IN_CONTEXT


def _runs(
    words: InternedIds, position: Integers, at: Integers, gram: Integers, step: int
) -> tuple[Integers, Integers]:
    """The length of the shortest run from each word on that both texts have once, (T,).

    0 for none, `_UNKNOWN` for longer ones; with -1 for `step`, of runs that end with the word.
    And where the word stands in the reference by this run, (T,).
    """
    size, places = np.zeros(len(position), np.int64), np.full(len(position), NOWHERE)
    room = words.left - 1 if step > 0 else position
    kinds = words.ids.max(initial=0) + 1
    for length in range(2, _LONGEST + 1):
        inside = room[at] >= length - 1
        at, gram = at[inside], gram[inside]
        names = gram * kinds + words.ids[at + step * (length - 1)]
        first, last, at, gram = _once(words, names, at)
        size[first], places[first] = length, position[last]
    size[at] = _UNKNOWN
    return size, places


def _place_by_longer_runs(words: InternedIds, place: Integers) -> None:
    """Find, in place, the words that no short run finds."""
    texts, limits = words.strings, list(spans(words.segments))
    unknown = np.flatnonzero(place == _IN_CONTEXT)
    text = np.searchsorted(words.segments, unknown, side="right") - 1
    for row in np.unique(text).tolist():
        start, end = limits[row]
        starts = np.flatnonzero(place[start:end] == _IN_CONTEXT)
        places = _in_context(starts.tolist(), texts[row], texts[row + 1])
        place[start + starts] = list(places)


def _in_context(starts: list[int], words: str, reference: str) -> Iterator[int]:
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
