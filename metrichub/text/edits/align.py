"""Alignments of pairs of texts: common subsequences, edits and extractive fragments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from operator import eq, itemgetter
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Editops, LCSseq, Levenshtein

from metrichub.text.column import RaggedTexts, Texts
from metrichub.text.edits.lcs import occurrences, subsequence
from metrichub.text.ngrams.interning import intern_both
from metrichub.text.ngrams.ngrams import lengths
from metrichub.text.ragged import Flags, Integers, offsets_of, row_sums, spans
from metrichub.text.tokenizations import watched


class EditCounts(NamedTuple):
    """What turns the reference into the prediction, each (N,)."""

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


def levenshtein(prediction: Texts, reference: Texts, tokenizer: str) -> Integers:
    """The least number of substitutions, deletions and insertions of tokens, (N,)."""
    return _each(Levenshtein.distance, prediction, reference, tokenizer)


def equal_rows(prediction: Texts, reference: Texts, tokenizer: str) -> Flags:
    """Whether both texts have the same tokens, (N,)."""
    # Texts that a tokenizer can't cut are equal or not all the same, so nobody has to know.
    with watched():
        pairs = _sequences(prediction, reference, tokenizer)
    return np.fromiter(map(eq, *pairs), np.bool_, len(prediction))


def edit_counts(prediction: Texts, reference: Texts, tokenizer: str) -> EditCounts:
    """The edits by kind, of the alignment that rapidfuzz picks among the shortest.

    The hits of an alignment and its distance leave one number of edits of each kind.
    """
    predictions, references = _sequences(prediction, reference, tokenizer)
    found = list(map(Levenshtein.editops, references, predictions))
    distance = np.fromiter(map(len, found), np.int64, len(found))
    hits = np.fromiter(map(_hits, found), np.int64, len(found))
    expected, predicted = lengths(reference, tokenizer), lengths(prediction, tokenizer)
    substitutions = expected + predicted - 2 * hits - distance
    deletions = expected - hits - substitutions
    return EditCounts(hits, substitutions, deletions, predicted - hits - substitutions)


def _hits(operations: Editops) -> int:
    """The tokens that an alignment leaves as they are."""
    return sum(map(itemgetter(2), operations.as_matching_blocks()))


def fragments(prediction: Texts, source: Texts, tokenizer: str) -> Fragments:
    """The extractive fragments of Grusky et al. (2018), as their code finds them.

    From the left of the prediction, the longest run that the source has too is taken; the
    search goes on behind it, and in the source behind every run that was looked at.
    """
    both = intern_both(prediction, source, tokenizer).lists
    sums = [_fragments(*pair) for pair in zip(both[::2], both[1::2], strict=True)]
    covered, squared = np.array(sums, np.int64).reshape(-1, 2).T
    return Fragments(covered, squared, lengths(prediction, tokenizer), lengths(source, tokenizer))


def union_lcs(prediction: Texts, reference: Texts, tokenizer: str) -> UnionMatches:
    """What ROUGE-Lsum counts, as rouge-score 0.1.2 does; sentences end at line feeds.

    A token of a reference sentence is hit if it lies on the longest common subsequence with
    any sentence of the prediction, but no more often than it occurs in the prediction.
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
    function: Callable[..., int], prediction: Texts, reference: Texts, tokenizer: str
) -> Integers:
    pairs = _sequences(prediction, reference, tokenizer)
    return np.fromiter(map(function, *pairs), np.int64, len(prediction))


def _sequences(
    prediction: Texts, reference: Texts, tokenizer: str
) -> tuple[Sequence[Any], Sequence[Any]]:
    """The tokens of every row as sequences that rapidfuzz compares fast."""
    predicted, expected = prediction.strings(tokenizer), reference.strings(tokenizer)
    if predicted is not None and expected is not None:
        return predicted, expected
    both = intern_both(prediction, reference, tokenizer).sequences
    return both[::2], both[1::2]


def _fragments(prediction: Sequence[int], source: Sequence[int]) -> tuple[int, int]:
    """The sum of the fragments' lengths, and of their squares.

    Runs of one token never hide another, so only places with the same two tokens are visited.
    """
    known = set(source)
    places: dict[tuple[int, ...], list[int]] = {}
    for place, pair in enumerate(pairwise(source)):
        places.setdefault(pair, []).append(place)
    covered = squared = start = 0
    while start < len(prediction):
        longest = int(prediction[start] in known)
        behind = 0
        for place in places.get(tuple(prediction[start : start + 2]), ()):
            if place >= behind:
                size = _run(prediction, start, source, place)
                longest = max(longest, size)
                behind = place + size
        covered += longest
        squared += longest**2
        start += max(longest, 1)
    return covered, squared


def _run(first: Sequence[int], i: int, second: Sequence[int], j: int) -> int:
    """How many tokens are the same from i and from j on."""
    size, room = 0, min(len(first) - i, len(second) - j)
    while size < room and first[i + size] == second[j + size]:
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
        on_path, whole = 0, sum(where for token, where in places.items() if token in holders)
        for number in numbers:
            on_path |= subsequence(places, len(sentence), candidates[number])
            if on_path == whole:
                break
        for i, token in enumerate(sentence):
            hit[token] += times * (on_path >> i & 1)
    return (Counter(chain.from_iterable(prediction)) & hit).total()
