"""Alignments of pairs of texts: common subsequences, edits and extractive fragments."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.edits.lcs import occurrences, subsequence
from metrichub.text.ngrams.interning import InternedIds, intern_both
from metrichub.text.ngrams.overlap import lengths
from metrichub.text.ragged import Flags, Integers, offsets_of, row_sums, sort_equal, spans
from metrichub.text.tokenize.tokenizers import Tokenizer


class EditCounts(NamedTuple):
    """The edits that turn the reference into the prediction, each (N,)."""

    hits: Integers
    substitutions: Integers
    deletions: Integers
    insertions: Integers


class Fragments(NamedTuple):
    """Sums over the extractive fragments of a prediction, and both lengths, each (N,).

    `covered` sums the fragments' lengths, `squared` their squares.
    """

    covered: Integers
    squared: Integers
    prediction: Integers
    source: Integers


class UnionMatches(NamedTuple):
    """Hits of the union of common subsequences, and both numbers of tokens, each (N,)."""

    hits: Integers
    prediction: Integers
    reference: Integers


def lcs(prediction: Texts, reference: Texts, tokenizer: str) -> Integers:
    """The length of the longest common subsequence of tokens, (N,); memory is linear."""
    return _each(LCSseq.similarity, prediction, reference, tokenizer)


def levenshtein(prediction: Texts, reference: Texts, tokenizer: Tokenizer) -> Integers:
    """The least number of substitutions, deletions and insertions of tokens, (N,)."""
    return _each(Levenshtein.distance, prediction, reference, tokenizer)


def equal_rows(prediction: Texts, reference: Texts, tokenizer: str) -> Flags:
    """Whether both texts have the same tokens, (N,)."""
    pairs = _sequences(prediction, reference, tokenizer)
    return np.fromiter(map(eq, *pairs), np.bool_, len(prediction))


def edit_counts(prediction: Texts, reference: Texts, tokenizer: Tokenizer) -> EditCounts:
    """The number of edits by kind, in the alignment that rapidfuzz picks among the shortest.

    The hits of an alignment and its distance determine the number of edits of each kind.
    """
    predictions, references = _sequences(prediction, reference, tokenizer)
    edits = list(map(Levenshtein.editops, references, predictions))
    distance = np.fromiter(map(len, edits), np.int64, len(edits))
    # The tokens that an alignment leaves as they are.
    hits = np.array([sum(size for *_, size in e.as_matching_blocks()) for e in edits], np.int64)
    expected, predicted = lengths(reference, tokenizer), lengths(prediction, tokenizer)
    substitutions = expected + predicted - 2 * hits - distance
    deletions = expected - hits - substitutions
    return EditCounts(hits, substitutions, deletions, predicted - hits - substitutions)


def fragments(prediction: Texts, source: Texts, tokenizer: str) -> Fragments:
    """The extractive fragments of Grusky et al. (2018), as their code finds them.

    From the left of the prediction, the longest run that is also in the source is taken; the search
    continues after it, and in the source after each run that was compared. Every token that the
    source has is therefore in a fragment, and only fragments of several tokens have to be searched
    for.
    """
    texts = intern_both(prediction, source, tokenizer)
    row = np.repeat(np.arange(len(prediction)), np.diff(texts.offsets))
    bits = int(texts.ids.max(initial=1)).bit_length()
    tokens = row << bits | texts.ids
    shared = _on_both_sides(tokens, texts.side) >= 0
    covered = np.bincount(row[shared & (texts.side == 0)], minlength=len(prediction))
    inside = np.flatnonzero(texts.left > 1)
    pairs = np.full(len(row), -1)
    pairs[inside] = _on_both_sides(
        tokens[inside] << bits | texts.ids[inside + 1], texts.side[inside]
    )
    starts, sizes = np.array([*_long_fragments(texts, pairs)], np.int64).reshape(-1, 2).T
    longer = np.bincount(row[starts], sizes * (sizes - 1), len(prediction))
    squared = covered + longer.astype(np.int64)
    return Fragments(covered, squared, lengths(prediction, tokenizer), lengths(source, tokenizer))


def union_lcs(prediction: Texts, reference: Texts, tokenizer: str) -> UnionMatches:
    """The counts of ROUGE-Lsum, as in rouge-score 0.1.2; sentences end at line feeds.

    A token of a reference sentence is a hit if it is in the longest common subsequence with any
    sentence of the prediction, but at most as often as it occurs in the prediction.
    """
    predicted, expected = _sentences(prediction), _sentences(reference)
    texts = intern_both(predicted, expected, tokenizer).lists
    starts = offsets_of(predicted.counts + expected.counts)
    hits = [
        _union_hits(texts[start:middle], texts[middle:end])
        for (start, end), middle in zip(spans(starts), starts[:-1] + predicted.counts, strict=True)
    ]
    return UnionMatches(
        np.array(hits, np.int64),
        row_sums(lengths(predicted, tokenizer), predicted.offsets),
        row_sums(lengths(expected, tokenizer), expected.offsets),
    )


def _each(
    function: Callable[..., int], prediction: Texts, reference: Texts, tokenizer: Tokenizer
) -> Integers:
    pairs = _sequences(prediction, reference, tokenizer)
    return np.fromiter(map(function, *pairs), np.int64, len(prediction))


def _sequences(
    prediction: Texts, reference: Texts, tokenizer: Tokenizer
) -> tuple[Sequence[Any], Sequence[Any]]:
    """The tokens of every row as sequences that rapidfuzz compares fast."""
    predicted, expected = prediction.strings(tokenizer), reference.strings(tokenizer)
    if predicted is not None and expected is not None:
        return predicted, expected
    words, others = prediction.words(tokenizer), reference.words(tokenizer)
    if words is not None and others is not None:
        return words, others
    both = intern_both(prediction, reference, tokenizer).sequences
    return both[::2], both[1::2]


def _on_both_sides(keys: Integers, side: Integers) -> Integers:
    """A number for every key that predictions and references have, -1 for the others, (T,)."""
    order, changed = sort_equal(keys.astype(np.uint64))
    limits = np.flatnonzero(changed)
    number = np.full(len(keys), -1)
    if len(keys):
        references, counts = np.add.reduceat(side[order], limits[:-1]), np.diff(limits)
        shared = (references > 0) & (references < counts)
        number[order] = np.repeat(np.where(shared, np.arange(len(counts)), -1), counts)
    return number


def _long_fragments(texts: InternedIds, pairs: Integers) -> Iterator[tuple[int, int]]:
    """Where every fragment of two tokens or more starts, and how many it has.

    `pairs` numbers the two tokens that begin at each place, if both texts have them.
    """
    starts = np.flatnonzero((pairs >= 0) & (texts.side == 0))
    places = np.flatnonzero((pairs >= 0) & (texts.side > 0))
    # Those of one pair side by side, from the left.
    places = places[np.argsort(pairs[places], kind="stable")]
    begin, end = (
        np.searchsorted(pairs[places], pairs[starts], side).tolist() for side in ("left", "right")
    )
    rooms, other_rooms = texts.left[starts].tolist(), texts.left[places].tolist()
    ids, begun, others = texts.ids.tolist(), starts.tolist(), places.tolist()
    at = 0
    while at < len(begun):
        longest = behind = 0
        for other in range(begin[at], end[at]):
            if others[other] >= behind:
                room = min(rooms[at], other_rooms[other])
                size = _run(ids, begun[at], others[other], room)
                longest, behind = max(longest, size), others[other] + size
        yield begun[at], longest
        at = bisect_left(begun, begun[at] + longest, at)


def _run(ids: Sequence[int], i: int, j: int, room: int) -> int:
    """How many of the ids are the same from i and from j on, of at most `room`."""
    size = 2
    while size < room and ids[i + size] == ids[j + size]:
        size += 1
    return size


def _sentences(column: Texts) -> RaggedTexts:
    """The lines of every row that aren't empty."""
    return column.cached(
        "sentences",
        lambda: RaggedTexts.of([[line for line in text.split("\n") if line] for text in column]),
    )


def _union_hits(prediction: list[list[int]], reference: list[list[int]]) -> int:
    """The hits of one row; equal sentences are aligned once, those without a common word never."""
    if len(prediction) == len(reference) == 1:
        return int(LCSseq.similarity(prediction[0], reference[0]))
    candidates = list(dict.fromkeys(map(tuple, prediction)))
    holders: dict[int, list[int]] = {}
    for number, candidate in enumerate(candidates):
        for token in set(candidate):
            holders.setdefault(token, []).append(number)
    hit = Counter[int]()
    for sentence, times in Counter(map(tuple, reference)).items():
        places = occurrences(sentence)
        numbers = {number for token in places for number in holders.get(token, ())}
        on_path, every = 0, sum(where for token, where in places.items() if token in holders)
        for number in numbers:
            on_path |= subsequence(places, len(sentence), candidates[number])
            if on_path == every:
                break
        for i, token in enumerate(sentence):
            hit[token] += times * (on_path >> i & 1)
    return (Counter(chain.from_iterable(prediction)) & hit).total()
