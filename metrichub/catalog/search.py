"""Search: installed cards and pages ranked for a question by one small inverted index.

Any word of a question counts, a rarer one more, and where a word stands decides how much. The index
holds whole numbers and the rules for words, so that a page's script and Python give one ranking.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

# Weights of the fields; of several that hold a word, the heaviest counts.
_TITLE, _SHORT_TITLE, _NAME, _KEYWORD, _SUMMARY, _TAG, _TEXT = 6, 5, 8, 8, 5, 4, 1
_SCALE = 20
# How much a mention in running text makes a word more common.
_MENTION = 0.2
_WORD = r"[^\W_]+"
# The last letters of words, longest first, and what takes their place; applied while four remain.
_ENDINGS: tuple[tuple[str, str], ...] = (
    ("ization", "iz"), ("isation", "iz"), ("ement", ""), ("ness", ""), ("ating", "at"),
    ("ised", "iz"), ("ises", "iz"), ("ise", "iz"), ("ions", ""), ("ion", ""), ("ity", ""),
    ("ing", ""), ("ers", ""), ("er", ""), ("ed", ""), ("es", ""), ("ly", ""), ("e", ""), ("s", ""),
    ("y", "i"),
)  # fmt: skip
_FILLERS = frozenset(
    {
        "a", "about", "above", "actually", "all", "also", "am", "an", "and", "any", "are", "as",
        "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for", "from",
        "get", "gets", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
        "just", "many", "me", "much", "my", "no", "not", "of", "on", "one", "or", "our", "over",
        "right", "same", "say", "saying", "says", "should", "so", "some", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "thing", "things", "this", "to", "too",
        "two", "up", "us", "want", "was", "we", "what", "when", "where", "which", "who", "why",
        "will", "with", "would", "you", "your", "s", "t", "d",
    }
)  # fmt: skip


class SearchPage(NamedTuple):
    """Something that a question may find. `address` is where it lies in the site.

    `share` is how much its words count beside those of other pages.
    """

    title: str
    address: str
    kind: str
    name: str = ""
    summary: str = ""
    keywords: Sequence[str] = ()
    tags: Sequence[str] = ()
    text: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class SearchIndex:
    """Pages, and for every word which of them have it and with what weight."""

    pages: tuple[SearchPage, ...]
    words: Mapping[str, Sequence[tuple[int, int]]]

    @classmethod
    def of(cls, pages: Iterable[SearchPage]) -> SearchIndex:
        """The index of some pages; of equally good ones the earlier is found first."""
        given = tuple(pages)
        found: dict[str, dict[int, float]] = defaultdict(dict)
        for at, page in enumerate(given):
            for word, weight in _weighed(page):
                found[word][at] = max(weight * page.share, found[word].get(at, 0))
        return cls(given, {word: _postings(found[word], len(given)) for word in sorted(found)})

    def find(self, question: str) -> tuple[SearchPage, ...]:
        """The pages that have a word of the question, the best first."""
        total: dict[int, int] = defaultdict(int)
        for word in terms(question):
            for at, weight in self._having(word).items():
                total[at] += weight
        return tuple(self.pages[at] for at in sorted(total, key=lambda at: (-total[at], at)))

    def as_json(self) -> dict[str, Any]:
        """The words and the rules, as the site's script reads them; pages are numbers."""
        flat = {
            word: [number for posting in postings for number in posting]
            for word, postings in self.words.items()
        }
        return {"words": flat, "endings": _ENDINGS, "fillers": sorted(_FILLERS)}

    def _having(self, word: str) -> Mapping[int, int]:
        """The pages with a word and its weight; half of it for words that only begin so."""
        if word in self.words:
            return {at: 2 * weight for at, weight in self.words[word]}
        found: dict[int, int] = {}
        if len(word) > 2:
            for longer, postings in self.words.items():
                if longer.startswith(word):
                    for at, weight in postings:
                        found[at] = max(weight, found.get(at, 0))
        return found


def terms(question: str) -> tuple[str, ...]:
    """The words that a question is looked up by: each once, and neighbours as one word.

    >>> terms("Is my BERT score good?")
    ('bert', 'scor', 'good', 'bertscor', 'scoregood')
    """
    words = re.findall(_WORD, question.lower())
    plain = [word_stem(word) for word in words if word not in _FILLERS]
    # A question of fillers alone is taken at its word.
    return tuple(dict.fromkeys([*(plain or map(word_stem, words)), *_pairs(words)]))


def word_stem(word: str) -> str:
    """The word without its endings: "hallucinations" and "hallucinated" give the same."""
    while True:
        for ending, instead in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= (3 if len(ending) < 3 else 4):
                word = word[: -len(ending)] + instead
                break
        else:
            return word


def _pairs(words: Sequence[str]) -> Iterator[str]:
    kept = [word for word in words if word not in _FILLERS]
    return (word_stem(one + other) for one, other in pairwise(kept))


def _weighed(page: SearchPage) -> Iterator[tuple[str, float]]:
    """The words of a page, each with the weight of where it stands, some several times."""
    title = re.findall(_WORD, page.title.lower())
    for words, weight in (
        (title, _TITLE + _SHORT_TITLE / max(len(title), 1)),
        (re.findall(_WORD, page.name.lower()), _NAME),
        *((re.findall(_WORD, keyword.lower()), _KEYWORD) for keyword in page.keywords),
    ):
        yield from ((word_stem(word), weight) for word in words if word not in _FILLERS)
        yield from ((pair, weight) for pair in _pairs(words))
    for text, weight in ((page.summary, _SUMMARY), (" ".join(page.tags), _TAG), (page.text, _TEXT)):
        for word in re.findall(_WORD, text.lower()):
            if word not in _FILLERS:
                yield word_stem(word), weight


def _postings(weights: Mapping[int, float], pages: int) -> tuple[tuple[int, int], ...]:
    """The weights of one word, more the rarer it is, as whole numbers from 1."""
    common = sum(1 if weight > _TEXT else _MENTION for weight in weights.values())
    rare = math.log(1 + pages / (1 + common))
    return tuple((at, max(1, round(_SCALE * rare * weight))) for at, weight in weights.items())
