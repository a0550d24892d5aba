"""What the site shows: a page for each card that can be read, a line for each that can't."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from metrichub import Card, CardError, Entry
from metrichub.catalog.registry import Registry

GUIDES, REFERENCE, API = "Guides", "Reference", "API"
"""The groups of pages beside the cards."""
NO_FAMILY = "other"
_RELATED = 6


@dataclass(frozen=True)
class CardPage:
    """A card's page. `name` is what `load_metric` takes, `path` where the page lies in the site."""

    entry: Entry
    name: str
    path: str

    @property
    def card(self) -> Card:
        """The card as it was read."""
        return self.entry.card

    @property
    def title(self) -> str:
        """The card's title on one line; with the qualified name where the plain one is taken."""
        title = one_line(self.card.title) or self.name
        return title if self.name == self.entry.name else f"{title} ({self.name})"

    @property
    def source(self) -> str:
        """The card's file in metrichub's repository; "" where it came with another distribution."""
        ours = self.entry.distribution == "metrichub"
        return f"metric_cards/{self.entry.folder.name}/README.md" if ours else ""

    @property
    def family(self) -> str:
        """The family's name, or "other"."""
        return one_line(self.card.tags.family) or NO_FAMILY

    @cached_property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """What the gallery filters by: the values of this card for each facet."""
        return {**self.card.facets, "family": (self.family,)}


@dataclass(frozen=True)
class DocPage:
    """A page of the site that isn't a card: where it lies, under which group, and its HTML.

    `whole` says that the HTML is a page of its own, which stays as it is; `source` is the file of
    the repository that it is made from, and `words` what the search finds it by beside its title.
    """

    path: str
    title: str
    summary: str
    group: str
    html: str
    whole: bool = False
    source: str = ""
    words: str = ""


@dataclass(frozen=True)
class SiteIndex:
    """The pages of all installed cards by name, and why the others have none."""

    pages: tuple[CardPage, ...]
    broken: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, installed: Registry) -> SiteIndex:
        """The index of the installed metrics; imports none of their code."""
        pages, broken, taken = [], {}, set[str]()
        for entry in installed.entries:
            name = one_line(installed.name_of(entry))
            problem = _problem(entry)
            if problem is not None:
                broken[name] = problem
                continue
            path = next(path for path in _paths(name) if path not in taken)
            taken.add(path)
            pages.append(CardPage(entry, name, path))
        return cls(tuple(sorted(pages, key=lambda page: page.title.casefold())), broken)

    @cached_property
    def families(self) -> Mapping[str, tuple[CardPage, ...]]:
        """The pages of each family, both in the order of their names."""
        names = sorted({page.family for page in self.pages}, key=lambda name: name.casefold())
        return {name: tuple(page for page in self.pages if page.family == name) for name in names}

    @cached_property
    def by_folder(self) -> Mapping[Path, CardPage]:
        """The page of each metric's folder."""
        return {page.entry.folder.resolve(): page for page in reversed(self.pages)}

    def choices(self, facet: str) -> tuple[str, ...]:
        """The values that the cards have for a facet, in order."""
        return tuple(sorted({value for page in self.pages for value in page.facets[facet]}))

    def related(self, page: CardPage) -> tuple[CardPage, ...]:
        """Up to six pages that share the most tags with a page, its family counted twice."""

        def shared(other: CardPage) -> int:
            return 2 * (other.family == page.family != NO_FAMILY) + sum(
                len(set(page.facets[facet]) & set(other.facets[facet]))
                for facet in ("task", "dimension")
            )

        others = [other for other in self.pages if other is not page and shared(other)]
        return tuple(sorted(others, key=shared, reverse=True)[:_RELATED])


def one_line(text: str) -> str:
    """The text without control characters, its white space made single spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _problem(entry: Entry) -> str | None:
    """Why an entry's card can't be read, without the folders of this machine."""
    try:
        _ = entry.card
    except CardError as error:
        problem = str(error)
    else:
        return None
    return re.sub(r"(?:[A-Za-z]:)?[/\\][^\s:]*[/\\]", "", one_line(problem))


def _paths(name: str) -> Iterable[str]:
    """Paths for a page: a readable one, then others for when it is taken."""

    def numbered() -> Iterator[str]:
        # An entry point may be called anything; a file may not.
        plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_") or "metric"
        yield f"metrics/{plain}.html"
        number = 1
        while True:
            number += 1
            yield f"metrics/{plain}-{number}.html"

    return numbered()
