"""N-grams: what one system says that another doesn't, by how much it matters.

Counted are samples: how many a system says an n-gram in as a reference does, and how many it says
one in that no reference of theirs has. The differences are ranked by the log-odds with an
informative Dirichlet prior of Monroe, Colaresi and Quinn ("Fightin' Words", Political Analysis
16(4), 2008, equations 16 and 22), over their standard deviation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation.measurement import Measurement
from metrichub.text import Integers, Texts, Words, offsets_of, sort_equal
from metrichub.text.tokenize.reference import is_unspaced

TOKENIZER = "unicode"
LONGEST = 4
"""Words of the longest n-gram."""
FEWEST = 2
"""Samples that an n-gram has to be in."""
LOWEST = 1.0
"""Standard deviations that a difference is from none, at least."""
LISTED = 10
MOST_SAMPLES = 1000
"""Samples of an n-gram whose numbers are kept."""
MOST_SYSTEMS = 62
MOST_PAIRS = 10
"""Of more pairs of systems only those with the first are compared."""
MOST_CHARACTERS = 15_000_000
"""Of longer texts every second sample is read, or every third, and so on."""
_BLOCK = 2_000_000
_APOSTROPHE, _LETTER = re.compile(r"(?<=\w)['’](?=\w)"), "\u02bc"
"""An apostrophe inside of a word is a letter of it: "I'm" is one word."""

Reals = NDArray[np.float64]


class Ngram(NamedTuple):
    """An n-gram that the first of two systems has in more samples than the second.

    `first` and `second` are the samples of each that have it; `alone` those of the first where the
    second hasn't, of which `samples` lists the first.
    """

    text: str
    first: int
    second: int
    z: float
    alone: int
    samples: Sequence[int]


class PairNgrams(NamedTuple):
    """For two systems, by number: what each says more often, the first's before the second's."""

    pair: tuple[int, int]
    matching: tuple[Sequence[Ngram], Sequence[Ngram]]
    unsupported: tuple[Sequence[Ngram], Sequence[Ngram]]


class SystemNgrams(NamedTuple):
    """The n-grams of every pair, counted in one of `every` samples."""

    pairs: Sequence[PairNgrams]
    every: int

    def data(self) -> dict[str, Any]:
        """The n-grams as the page's script reads them, sample numbers as differences."""

        def row(ngram: Ngram) -> list[Any]:
            steps = np.diff(ngram.samples, prepend=0).tolist()
            return [ngram.text, ngram.first, ngram.second, round(ngram.z, 2), ngram.alone, steps]

        return {
            "every": self.every,
            "pairs": [
                {
                    "pair": pair.pair,
                    "lists": [[*map(row, part)] for part in (*pair.matching, *pair.unsupported)],
                }
                for pair in self.pairs
            ],
        }


def ngrams_of(systems: Mapping[str, Measurement]) -> SystemNgrams | None:
    """The n-grams that systems differ in; None for one system, or without texts or references."""
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        return None
    columns = [_items(report, "predictions") for report in systems.values()]
    references = _items(next(iter(systems.values())), "references")
    sides = [column for column in (references, *columns) if column is not None]
    if len(sides) <= len(systems):
        return None
    every = 1 + sum(len(t) for side in sides for items in side for t in items) // MOST_CHARACTERS
    corpus = _Corpus.of([side[::every] for side in sides])
    pairs = list(combinations(range(len(systems)), 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [(0, other) for other in range(1, len(systems))]
    candidates: dict[tuple[int, int, bool], list[_Candidate]] = {}
    for counts in corpus.orders():
        for first, second in pairs:
            for a, b in ((first, second), (second, first)):
                for match in (True, False):
                    distinctive = counts.candidates(a + 1, b + 1, match)
                    candidates.setdefault((a, b, match), []).extend(distinctive)

    def listed(a: int, b: int, match: bool) -> Sequence[Ngram]:
        return _listed(candidates.get((a, b, match), []), corpus, every)

    return SystemNgrams(
        [
            PairNgrams(
                (a, b),
                (listed(a, b, True), listed(b, a, True)),
                (listed(a, b, False), listed(b, a, False)),
            )
            for a, b in pairs
        ],
        every,
    )


def log_odds(first: Reals, second: Reals, first_words: int, second_words: int) -> Reals:
    """The z of each word, by its counts in two corpora and the numbers of their words.

    The prior is the mean of both corpora. Positive where the first has more of it than the second.
    """
    prior, words = (first + second) / 2, (first_words + second_words) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        log_first, log_second = (
            np.log((count + prior) / (total + words - count - prior))
            for count, total in ((first, first_words), (second, second_words))
        )
        z: Reals = (log_first - log_second) / np.sqrt(1 / (first + prior) + 1 / (second + prior))
    return z


class _Candidate(NamedTuple):
    """An n-gram, yet without its text, by the place of its first token and its order."""

    place: int
    order: int
    ngram: Ngram


@dataclass(frozen=True, eq=False)
class _OrderCounts:
    """The n-grams of one order that occur more than once: P pairs of one and a sample.

    `gram` and `sample` are (P,) in rising order, `has` the sides that have it as bits, (P,), and
    `place` where an n-gram first stands, (G,). `totals` are each side's pairs, of all n-grams.
    """

    order: int
    gram: Integers
    sample: Integers
    has: Words
    place: Integers
    totals: Sequence[int]

    def candidates(self, a: int, b: int, match: bool) -> Iterator[_Candidate]:
        """The n-grams that side `a` has in more samples than `b`: side 0 has them too, or not."""
        reference = (self.has & np.uint64(1)) == match
        mine = (self.has >> np.uint64(a) & np.uint64(1) == 1) & reference
        theirs = (self.has >> np.uint64(b) & np.uint64(1) == 1) & reference
        first, second = (
            np.bincount(self.gram[side], minlength=len(self.place)) for side in (mine, theirs)
        )
        totals = (self.totals[0],) * 2 if match else (self.totals[a], self.totals[b])
        z = log_odds(first.astype(float), second.astype(float), *totals)
        possible = np.flatnonzero((z >= LOWEST) & (first >= FEWEST))
        best = possible[np.argsort(-z[possible], kind="stable")[: 4 * LISTED]]
        limits = np.searchsorted(self.gram, np.stack((best, best + 1)))
        for gram, start, end in zip(best.tolist(), *limits.tolist(), strict=True):
            alone = self.sample[start:end][mine[start:end] & ~theirs[start:end]]
            counts = int(first[gram]), int(second[gram])
            ngram = Ngram("", *counts, float(z[gram]), len(alone), alone[:MOST_SAMPLES].tolist())
            yield _Candidate(int(self.place[gram]), self.order, ngram)


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The texts of all sides, sample by sample, T tokens in all by their hashes.

    Two of ten million different words have the same hash in one of 300,000 corpora.
    """

    sides: int
    texts: Sequence[str]
    side: Integers
    sample: Integers
    offsets: Integers
    hashes: Words

    @classmethod
    def of(cls, sides: Sequence[Sequence[Sequence[str]]]) -> _Corpus:
        """The corpus of the texts that each side has of every sample."""
        placed = [
            (text, side, sample)
            for sample, items in enumerate(zip(*sides, strict=True))
            for side, texts in enumerate(items)
            for text in texts
        ]
        texts = [text for text, *_ in placed]
        places = np.array([place for _, *place in placed], np.int64).reshape(-1, 2)
        tokens = [Texts(block).tokens(TOKENIZER) for block in _blocks(texts)]
        lengths = [np.zeros(0, np.int64), *(column.lengths for column in tokens)]
        hashes = [np.zeros(0, np.uint64), *(column.hashes for column in tokens)]
        return cls(
            len(sides), texts, places[:, 0], places[:, 1], offsets_of(np.concatenate(lengths)),
            np.concatenate(hashes),
        )  # fmt: skip

    def orders(self) -> Iterator[_OrderCounts]:
        """The counts of each order; an n-gram occurs once if its beginning or its end does."""
        total, lengths = len(self.hashes), np.diff(self.offsets)
        text = np.repeat(np.arange(len(lengths)), lengths)
        names, at, words = self.hashes, np.arange(total), np.zeros(0, np.uint64)
        for order in range(1, LONGEST + 1):
            where, changed = sort_equal(names)
            several = ~(changed[:-1] & changed[1:])
            starts, where = changed[:-1][several], at[where[several]]
            yield self._counts(order, starts, where, text[where])
            numbers = np.zeros(total + 1, np.uint64)
            numbers[where] = np.cumsum(starts)
            words = words if order > 1 else numbers
            bits = np.uint64(int(words.max(initial=1)).bit_length())
            last = max(total - order, 0)
            inside = text[:last] == text[order:]
            frequent = (numbers[:last] > 0) & (numbers[1 : last + 1] > 0)
            at = np.flatnonzero(inside & frequent)
            names = numbers[at] << bits | words[at + order]

    def _counts(
        self, order: int, starts: NDArray[Any], where: Integers, of: Integers
    ) -> _OrderCounts:
        sample, side = self.sample[of], self.side[of]
        new = starts.copy()
        new[1:] |= sample[1:] != sample[:-1]
        pairs = np.flatnonzero(new)
        bits = np.uint64(1) << side.astype(np.uint64)
        has = np.bitwise_or.reduceat(bits, pairs) if len(pairs) else bits
        lengths = np.maximum(np.diff(self.offsets) - order + 1, 0)
        everywhere = np.bincount(self.side, lengths, minlength=64).astype(np.int64)
        repeated = np.bincount(side, minlength=64)
        pairs_of = [int((has >> np.uint64(k) & np.uint64(1)).sum()) for k in range(self.sides)]
        return _OrderCounts(
            order,
            np.cumsum(starts)[pairs] - 1,
            sample[pairs],
            has,
            where[starts],
            [int(everywhere[k] - repeated[k]) + pairs_of[k] for k in range(self.sides)],
        )

    def words(self, place: int, order: int) -> list[str]:
        """The words of the n-gram that stands at a token."""
        text = int(np.searchsorted(self.offsets, place, side="right")) - 1
        start = place - int(self.offsets[text])
        return Texts([self.texts[text]]).tokens(TOKENIZER).strings(0)[start : start + order]


def _items(report: Measurement, column: str) -> list[Sequence[str]] | None:
    """The texts of a column, one list per sample; None where a batch lacks it."""
    if not report.texts:
        return None
    by_sample: list[Sequence[str]] = []
    for batch in report.texts.batches:
        if column not in batch.columns:
            return None
        items, offsets = batch.columns[column]
        ends = range(len(items) + 1) if offsets is None else offsets.tolist()
        by_sample += [
            [_APOSTROPHE.sub(_LETTER, text) for text in items[ends[i] : ends[i + 1]]]
            for i in range(batch.size)
        ]
    return by_sample


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in blocks of about `_BLOCK` characters."""
    start = size = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= _BLOCK:
            yield texts[start:end]
            start, size = end, 0
    yield texts[start:]


def _listed(candidates: Iterable[_Candidate], corpus: _Corpus, every: int) -> Sequence[Ngram]:
    """Those that matter most; of two that are always said together, the longer one."""
    listed: list[tuple[list[str], Ngram]] = []
    for place, order, ngram in sorted(candidates, key=lambda c: (-c.ngram.z, c.place)):
        new = corpus.words(place, order), ngram
        twin = next((k for k, earlier in enumerate(listed) if _same(new, earlier)), None)
        if twin is not None:
            listed[twin] = max(listed[twin], new, key=lambda pair: len(pair[0]))
        elif len(listed) < LISTED:
            listed.append(new)
    return [
        ngram._replace(text=_joined(words), samples=[s * every for s in ngram.samples])
        for words, ngram in listed
    ]


def _same(first: tuple[list[str], Ngram], second: tuple[list[str], Ngram]) -> bool:
    """Whether one is a part of the other, in the same samples as far as their numbers tell."""
    if first[1]._replace(z=0) != second[1]._replace(z=0):
        return False
    short, long = sorted((first[0], second[0]), key=len)
    starts = range(len(long) - len(short) + 1)
    return any(long[start : start + len(short)] == short for start in starts)


def _joined(words: Sequence[str]) -> str:
    """The words as one reads them: no space between those of scripts that have none."""
    text = ""
    for word in words:
        space = text and not (is_unspaced(text[-1]) and is_unspaced(word[0]))
        text += f" {word}" if space else word
    return text.replace(_LETTER, "'")
