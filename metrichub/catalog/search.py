"""Search: cards, guides and metrics elsewhere ranked for a question by one small inverted index.

Any word of a question counts, a rarer one more, and where a word stands decides how much.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from metrichub.catalog.guides import guides
from metrichub.catalog.known_plugins import bare_name, known_plugins
from metrichub.catalog.registry import Entry, Registry, registry

METRIC, GUIDE, ELSEWHERE = "metric", "guide", "elsewhere"
# It can't be used here, so an equally good metric that can be used ranks first.
_ELSEWHERE_SHARE = 0.7
_CODE = re.compile(
    r"^```.*?^```|<!-- generated: bounds.*?<!-- end -->|<!--.*?-->", re.DOTALL | re.MULTILINE
)
_MARKUP = re.compile(r"\]\([^)]*\)|[`*_#|$\\]+")
# Sections of a card that say nothing of what the metric is for.
_ASIDE = ("Citation", "Further reading", "Agreement with people")
# Weights of the fields; of several that hold a word, the heaviest counts.
_TITLE, _SHORT_TITLE, _NAME, _KEYWORD, _SUMMARY, _TAG, _TEXT = 6, 5, 8, 8, 5, 4, 1
_SCALE = 20
# More than all words of a question have.
_NAMED = 1_000_000
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
FILLERS = frozenset(
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

    `share` is how much its words count beside those of other pages. A question that is one of
    `names`, which are letters and digits, is about this page before others.
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
    names: Iterable[str] = ()


@dataclass(frozen=True)
class SearchIndex:
    """Pages, and for every word which of them have it and with what weight."""

    pages: tuple[SearchPage, ...]
    words: Mapping[str, Sequence[tuple[int, int]]]

    @classmethod
    def of(cls, pages: Iterable[SearchPage]) -> SearchIndex:
        """The index of some pages; of equally good ones the earlier is found first."""
        ordered = tuple(pages)
        weights: dict[str, dict[int, float]] = defaultdict(dict)
        for at, page in enumerate(ordered):
            for word, weight in _weighed(page):
                weights[word][at] = max(weight * page.share, weights[word].get(at, 0))
        return cls(
            ordered, {word: _postings(weights[word], len(ordered)) for word in sorted(weights)}
        )

    def find(self, question: str) -> tuple[SearchPage, ...]:
        """The pages that the question names, then those that have a word of it, the best first."""
        letters = bare_name(question)
        asked = {letters, letters.removesuffix("score")}
        total: dict[int, int] = defaultdict(int)
        total |= {at: _NAMED for at, page in enumerate(self.pages) if asked & {*page.names}}
        for word in terms(question):
            for at, weight in self._having(word).items():
                total[at] += weight
        return tuple(self.pages[at] for at in sorted(total, key=lambda at: (-total[at], at)))

    def _having(self, word: str) -> Mapping[int, int]:
        """The pages with a word and its weight; half of it for words that only begin so."""
        if word in self.words:
            return {at: 2 * weight for at, weight in self.words[word]}
        weights: dict[int, int] = {}
        if len(word) > 2:
            for longer, postings in self.words.items():
                if longer.startswith(word):
                    for at, weight in postings:
                        weights[at] = max(weight, weights.get(at, 0))
        return weights


def terms(question: str) -> tuple[str, ...]:
    """The words that a question is looked up by: each once, and neighbors as one word.

    Of a name such as RoleAdherenceMetric, its words count too, without "Metric" at its end.

    >>> terms("Is my BERT score good?")
    ('bert', 'scor', 'good', 'bertscor', 'scoregood')
    """
    parted = re.sub(r"(?<=[a-z])Metric\b", "", question)
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", parted)
    words, unparted = (re.findall(_WORD, text.lower()) for text in (parted, question))
    # A question of fillers alone is taken at its word.
    stems = _stems(words) or [word_stem(word) for word in words]
    return tuple(dict.fromkeys(stems + _pairs(words) + _stems(unparted)))


def _stems(words: Iterable[str]) -> list[str]:
    return [word_stem(word) for word in words if word not in FILLERS]


def word_stem(word: str) -> str:
    """The word without its endings: "hallucinations" and "hallucinated" give the same."""
    while True:
        for ending, instead in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= (3 if len(ending) < 3 else 4):
                word = word[: -len(ending)] + instead
                break
        else:
            return word


def _pairs(words: Sequence[str]) -> list[str]:
    telling = [word for word in words if word not in FILLERS]
    return [word_stem(first + second) for first, second in pairwise(telling)]


def _weighed(page: SearchPage) -> Iterator[tuple[str, float]]:
    """The words of a page, each with the weight of where it stands, some several times."""
    title = re.findall(_WORD, page.title.lower())
    for words, weight in (
        (title, _TITLE + _SHORT_TITLE / max(len(title), 1)),
        (re.findall(_WORD, page.name.lower()), _NAME),
        *((re.findall(_WORD, keyword.lower()), _KEYWORD) for keyword in page.keywords),
    ):
        yield from ((word, weight) for word in _stems(words) + _pairs(words))
    for text, weight in ((page.summary, _SUMMARY), (" ".join(page.tags), _TAG), (page.text, _TEXT)):
        yield from ((word, weight) for word in _stems(re.findall(_WORD, text.lower())))


def _postings(weights: Mapping[int, float], pages: int) -> tuple[tuple[int, int], ...]:
    """The weights of one word, more the rarer it is, as whole numbers from 1."""
    common = sum(1 if weight > _TEXT else _MENTION for weight in weights.values())
    rare = math.log(1 + pages / (1 + common))
    return tuple((at, max(1, round(_SCALE * rare * weight))) for at, weight in weights.items())


def search_pages(cards: Iterable[tuple[str, str, Entry]]) -> Iterator[SearchPage]:
    """The pages of some cards, given by title, address and entry, and those of the guides."""
    named = set()
    for title, address, entry in cards:
        card = entry.card
        named.add(bare_name(entry.name))
        tags = (*card.tags.task, *card.tags.dimension, card.tags.family)
        parts = [card.lead, *(text for head, text in card.sections.items() if head not in _ASIDE)]
        yield SearchPage(
            title, address, METRIC, entry.name, card.summary, card.keywords, tags,
            _words_of("\n".join(parts)), names=[*map(bare_name, (entry.name, *card.keywords))],
        )  # fmt: skip
    for guide in guides():
        yield SearchPage(
            guide.title, f"docs/{guide.name}.html", GUIDE, "", guide.summary, guide.keywords, (),
            _words_of(guide.body),
        )  # fmt: skip
    for plugin in known_plugins():
        if plugin.letters not in named:
            where = plugin.where[0].upper() + plugin.where[1:]
            yield SearchPage(
                plugin.title, f"elsewhere.html#{plugin.letters}", ELSEWHERE,
                "", where, plugin.keywords, share=_ELSEWHERE_SHARE, names=plugin.names(),
            )  # fmt: skip


def _words_of(markdown: str) -> str:
    """The words of a Markdown text, without its code, bounds and addresses."""
    return _MARKUP.sub(" ", _CODE.sub(" ", markdown))


def search_index() -> SearchIndex:
    """The index of what is installed; a metric's address is its name."""
    return _index_of(registry())


@lru_cache(maxsize=1)
def _index_of(installed: Registry) -> SearchIndex:
    fine = [entry for entry in installed.entries if not entry.problem]
    return SearchIndex.of(search_pages((e.card.title, installed.name_of(e), e) for e in fine))
