"""What a search looks through: the installed cards, the guides, and metrics that are elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from metrichub.catalog.card import Card
from metrichub.catalog.elsewhere import all_elsewhere
from metrichub.catalog.guides import Guide, guides
from metrichub.catalog.registry import Entry, Registry, registry
from metrichub.catalog.search import SearchIndex, SearchPage

METRIC, GUIDE, ELSEWHERE = "metric", "guide", "elsewhere"
# It can't be used here, so an equally good metric that can be used ranks first.
_ELSEWHERE_SHARE = 0.7
_CODE = re.compile(
    r"^```.*?^```|<!-- generated: bounds.*?<!-- end -->|<!--.*?-->", re.DOTALL | re.MULTILINE
)
_MARKUP = re.compile(r"\]\([^)]*\)|[`*_#|$\\]+")
# Sections of a card that say nothing of what the metric is for.
_ASIDE = ("Citation", "Further reading", "Agreement with people")


def search_pages(
    cards: Iterable[tuple[str, str, Entry]], others: Iterable[SearchPage] = ()
) -> Iterator[SearchPage]:
    """The pages of some cards, given by title, address and entry, of the guides, and of others."""
    named = set()
    for title, address, entry in cards:
        named.add(re.sub(r"[\W_]+", "", entry.name).lower())
        yield page_of_metric(title, address, entry)
    yield from map(page_of_guide, guides())
    yield from others
    for known in all_elsewhere():
        if known.letters not in named:
            where = known.where[0].upper() + known.where[1:]
            yield SearchPage(
                known.title, f"elsewhere.html#{known.letters}", ELSEWHERE,
                "", where, known.keywords, share=_ELSEWHERE_SHARE,
            )  # fmt: skip


def page_of_metric(title: str, address: str, entry: Entry) -> SearchPage:
    """A card as a page to be found."""
    card: Card = entry.card
    tags = (*card.tags.task, *card.tags.dimension, card.tags.family)
    parts = [card.lead, *(text for head, text in card.sections.items() if head not in _ASIDE)]
    text = words_of("\n".join(parts))
    return SearchPage(title, address, METRIC, entry.name, card.summary, card.keywords, tags, text)


def page_of_guide(guide: Guide) -> SearchPage:
    """A guide as a page to be found."""
    address = f"guides/{guide.name.lower()}.html"
    return SearchPage(
        guide.title, address, GUIDE, "", guide.summary, guide.keywords, (), words_of(guide.body)
    )


def words_of(markdown: str) -> str:
    """The words of a Markdown text, without its code, bounds and addresses."""
    return _MARKUP.sub(" ", _CODE.sub(" ", markdown))


def search_index() -> SearchIndex:
    """The index of what is installed; a metric's address is its name."""
    return _index_of(registry())


@lru_cache(maxsize=1)
def _index_of(installed: Registry) -> SearchIndex:
    fine = [entry for entry in installed.entries if not entry.problem]
    return SearchIndex.of(search_pages((e.card.title, installed.name_of(e), e) for e in fine))
