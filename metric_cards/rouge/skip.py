"""Counts of ROUGE-S, -SU and -W: skip-bigrams, and common subsequences that favour runs.

Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004), sections 4 to 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrichub.text import (
    Flags,
    Integers,
    InternedIds,
    Texts,
    Words,
    intern_both,
    lengths,
    offsets_of,
    row_sums,
    sort_rows,
    start_runs,
)

Floats: TypeAlias = NDArray[np.float64]

BATCH = 1 << 15
"""Tokens, padding included, of pairs that are aligned side by side."""


class SkipMatches(NamedTuple):
    """Skip-bigrams that both texts have, and those of each, (N,)."""

    matches: Integers
    prediction: Integers
    reference: Integers


class WeightedMatches(NamedTuple):
    """The worth of common subsequences if a run of k tokens counts k ** weight, (N,).

    Attributes:
        table: what stands in the last cell of the paper's table. A run is one in both texts.
        runs: what ROUGE-1.5.5 makes of the table's path. A run is one in the reference.
    """

    table: Floats
    runs: Floats


def skip_bigram_matches(
    prediction: Texts, reference: Texts, tokenizer: str, gap: int, unigrams: bool = False
) -> SkipMatches:
    """How many pairs of tokens, in their order and with at most `gap` others between, both have.

    A pair counts as often as the text has it that has it less often (ROUGE-S). With `unigrams`
    single tokens count too (ROUGE-SU), all but the last of each text, as in ROUGE-1.5.5.
    """
    together = intern_both(prediction, reference, tokenizer)
    matches = _shared(*_skip_bigrams(together, gap, unigrams))
    texts = (lengths(column, tokenizer) for column in (prediction, reference))
    return SkipMatches(matches, *(_numbers(counts, gap, unigrams) for counts in texts))


def weighted_lcs(
    prediction: Texts, reference: Texts, tokenizer: str, weight: float = 1.2
) -> WeightedMatches:
    """The weighted common subsequences of Lin (2004), section 4; memory is linear.

    The table takes every match that it meets, so the best weight can be missed.
    """
    together = intern_both(prediction, reference, tokenizer)
    sizes = np.diff(together.segments).reshape(-1, 2)
    matches = WeightedMatches(np.zeros(len(prediction)), np.zeros(len(prediction)))
    for rows in _batches(sizes):
        predicted, expected = _padded(together, 2 * rows), _padded(together, 2 * rows + 1)
        matches.table[rows], matches.runs[rows] = _weighted(predicted, expected, weight)
    return matches


def _numbers(counts: Integers, gap: int, unigrams: bool) -> Integers:
    """How many skip-bigrams texts of so many tokens have: n - d for each distance d."""
    width = np.minimum(gap + 1, np.maximum(counts - 1, 0))
    numbers: Integers = width * counts - width * (width + 1) // 2
    return numbers + np.maximum(counts - 1, 0) if unigrams else numbers


def _skip_bigrams(together: InternedIds, gap: int, unigrams: bool) -> tuple[Words, Integers]:
    """A number for every skip-bigram, its lowest bit the side, and where each row starts.

    A single token is a pair whose first half is 0, which isn't an id.
    """
    bits = np.uint64(int(together.ids.max(initial=1)).bit_length())
    ids, left = together.ids.astype(np.uint64), together.left
    distances = range(1, min(gap + 1, int(left.max(initial=1)) - 1) + 1)
    width = len(distances) + unigrams
    pairs = np.zeros((len(ids), width), np.uint64)
    for column, distance in enumerate(distances):
        first, second = ids[:-distance], ids[distance:]
        pairs[:-distance, column] = (first << bits | second) * (left[:-distance] > distance)
    if unigrams:
        pairs[:, -1] = ids * (left > 1)
    starts = offsets_of((pairs > 0).sum(axis=1))[together.offsets]
    keys = pairs << np.uint64(1) | (together.side[:, None] > 0).astype(np.uint64)
    return keys[pairs > 0], starts


def _shared(keys: Words, offsets: Integers) -> Integers:
    """How many keys of side 0 have a partner of side 1 in their row, (N,); sorts the keys."""
    sort_rows(keys, offsets)
    changed: Flags = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:] >> np.uint64(1), keys[:-1] >> np.uint64(1), out=changed[1:-1])
    limits = np.flatnonzero(start_runs(changed, offsets))
    referenced = np.diff(offsets_of((keys & np.uint64(1)).astype(np.int64))[limits])
    clipped = np.minimum(referenced, np.diff(limits) - referenced)
    return row_sums(clipped, np.searchsorted(limits, offsets))


def _batches(sizes: Integers) -> Iterator[Integers]:
    """Rows of similar sizes, so many at a time that their padded tokens are about `BATCH`."""
    order = np.lexsort((sizes.min(axis=1), sizes.max(axis=1)))
    longest = np.cumsum(2 * sizes.max(axis=1)[order])
    cuts = np.flatnonzero(np.diff(longest // BATCH)) + 1
    return (rows for rows in np.split(order, cuts) if len(rows))


def _padded(together: InternedIds, texts: Integers) -> Integers:
    """The ids of K texts as columns (longest, K), with zeros above the shorter ones."""
    ends, sizes = together.segments[texts + 1], np.diff(together.segments)[texts]
    places = ends - np.arange(int(sizes.max(initial=0)), 0, -1)[:, None]
    inside = places >= (ends - sizes)
    padded: Integers = np.where(inside, together.ids[places * inside], 0)
    return padded


def _weighted(prediction: Integers, reference: Integers, weight: float) -> WeightedMatches:
    """The last cells of the tables of K pairs, from one diagonal of all to the next.

    Cell (i, j) of a table is element i of diagonal i + j. Padding stands before the texts and
    matches nothing, so that all tables end in the same cell.
    """
    rows, columns = len(prediction), len(reference)
    backwards = np.where(reference > 0, reference, -1)[::-1]
    powers = np.array([float(k) ** weight for k in range(min(rows, columns) + 2)])
    older, old, new = (_Diagonal.empty(rows + 1, prediction.shape[1]) for _ in range(3))
    for number in range(2, rows + columns + 1):
        start, stop = max(1, number - columns), min(rows, number - 1) + 1
        shift = columns - number
        same = prediction[start - 1 : stop - 1] == backwards[start + shift : stop + shift]
        new.fill(slice(start, stop), slice(start - 1, stop - 1), same, older, old, powers)
        older, old, new = old, new, older
    return WeightedMatches(old.weight[rows], old.hits[rows])


class _Diagonal(NamedTuple):
    """One diagonal of K tables, (longest + 1, K) each.

    `weight` is the table's own, `run` the length of the run of matches that ends in a cell.
    `hits` and `streak` belong to the path back from a cell: what its runs of neighbours in the
    reference are worth, and how many of them end at the cell's own token of the reference.
    """

    weight: Floats
    run: Integers
    hits: Floats
    streak: Integers

    @classmethod
    def empty(cls, rows: int, pairs: int) -> _Diagonal:
        """A diagonal outside the table."""
        floats, numbers = np.zeros((2, rows, pairs)), np.zeros((2, rows, pairs), np.int64)
        return cls(floats[0], numbers[0], floats[1], numbers[1])

    def fill(
        self, here: slice, above: slice, same: Flags, older: _Diagonal, old: _Diagonal, f: Floats
    ) -> None:
        """Every cell from the two diagonals before: a match, or else the better neighbour.

        The sums are in the order of the paper's formula, as rounding decides between neighbours
        that are worth the same.
        """
        run, streak = older.run[above], older.streak[above]
        up, left = old.weight[above], old.weight[here]
        matched = older.weight[above] + f[run + 1] - f[run]
        self.weight[here] = np.where(same, matched, np.maximum(up, left))
        self.run[here] = np.where(same, run + 1, 0)
        matched = older.hits[above] + f[streak + 1] - f[streak]
        fallen = up > left
        self.hits[here] = np.where(same, matched, np.where(fallen, old.hits[above], old.hits[here]))
        self.streak[here] = np.where(same, streak + 1, old.streak[above] * fallen)
