"""CharacTER's shifts: which words of a prediction are moved before characters are compared.

Wang et al. (2016) leave much of the search open. What is done here was inferred from the scores
that cer 1.2.0 gives to made-up texts; its code was not consulted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein, Prefix
from rapidfuzz.process import cdist

PORTION = 1 << 13
"""Shifts that are compared at a time, so that memory stays bounded for long texts."""


MOST_WORK = 2_000_000_000
"""How many words the search may compare in all its rounds; then it stops."""


class Run(NamedTuple):
    """Consecutive words of a prediction, from `start` to before `end`."""

    start: int
    end: int


def spell(words: list[str], reference: list[str]) -> tuple[str, str]:
    """Both texts with a character for every word; characters sort as their words do."""
    # A character for every word, in the same order, without surrogates.
    ranks = enumerate(sorted({*words, *reference}))
    letters = {word: chr(rank if rank < 0xD800 else 0x800 + rank) for rank, word in ranks}
    spelt = ("".join(map(letters.__getitem__, text)) for text in (words, reference))
    return next(spelt), next(spelt)


def shifted(words: str, reference: str) -> tuple[str, bool]:
    """The prediction after all shifts, a character a word, and whether the search was stopped.

    While a shift lowers the number of word edits per word of the reference, the one that lowers it
    most is made; of equally good ones, the one after which the words are last in sorted order.
    """
    edits = Levenshtein.distance(words, reference)
    if not edits or not (words and reference):
        return words, False
    # The rate is lowered by the gain, not computed anew, because cer does so: 5/6 - (5/6 - 2/6) is
    # more than 2/6, and what is left over allows one more shift, which changes no number of edits.
    rate = edits / len(reference)
    # No order of the words needs fewer edits than the words that one text has too many.
    common = LCSseq.similarity("".join(sorted(words)), "".join(sorted(reference)))
    least = (max(len(words), len(reference)) - common) / len(reference)
    work, left = _work(words, reference), MOST_WORK
    while rate > least:
        left -= work
        if left < 0:
            return words, True
        if not (best := _best(words, reference, edits)):
            break
        edits, after = best
        gain = rate - edits / len(reference)
        if gain <= 0:
            break
        rate, words = rate - gain, after
    return words, False


def _work(words: str, reference: str) -> int:
    """About how many words one round of the search compares: every shift, with the reference."""
    times = Counter(reference)
    shifts = sum(times[letter] for letter in words)
    return shifts * len(words) * (len(reference) // 64 + 1)


def later_runs(words: str, shifted: str) -> list[Run]:
    """The runs of words that the shifts have put further behind; the words they pass cost nothing.

    A word that is still at its position is left out. Any other is looked up at the next position
    behind that has the same word, with all words that follow it both here and there.
    """
    runs, start = [], 0
    while start < len(words):
        end = start + 1
        target = -1 if words[start] == shifted[start] else shifted.find(words[start], end)
        if target >= 0:
            end = start + Prefix.similarity(words[start:], shifted[target:])
            runs.append(Run(start, end))
        start = end
    return runs


def _best(words: str, reference: str, most: int) -> tuple[int, str] | None:
    """The fewest edits, of at most `most`, that a shift leaves, and the prediction after it."""
    fewest, best = most, ""
    candidates = _candidates(words, reference)
    while portion := list(set(islice(candidates, PORTION))):
        distances = cdist([reference], portion, scorer=Levenshtein.distance, score_cutoff=fewest)
        edits: list[int] = distances[0].tolist()
        least = min(edits)
        if least <= fewest:
            last = max([text for text, left in zip(portion, edits, strict=True) if left == least])
            best = last if least < fewest else max(best, last)
            fewest = least
    return (fewest, best) if best else None


def _candidates(words: str, reference: str) -> Iterator[str]:
    """The prediction after each shift that is tried.

    From every word on, the longest run that the reference has too, at another position, is moved to
    that position.
    """
    positions: dict[str, list[int]] = {}
    for position, letter in enumerate(reference):
        positions.setdefault(letter, []).append(position)
    lengths: dict[int, int] = {}
    for start in reversed(range(len(words))):
        # From the end: a run is one word longer than the run of the next word in both texts.
        behind, lengths = lengths, {}
        for position in positions.get(words[start], ()):
            length = lengths[position] = 1 + behind.get(position + 1, 0)
            end = start + length
            if position < start:
                yield words[:position] + words[start:end] + words[position:start] + words[end:]
            elif position > start:
                target = position + length
                yield words[:start] + words[end:target] + words[start:end] + words[target:]
