"""The catalogue: what is installed, as gallery and API show it; imports no metric's code."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from metrichub import Card, Entry
from metrichub.app.policy import unavailable
from metrichub.app.settings import Judging
from metrichub.authoring import SHARED_PROMPTS
from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.registry import Registry, registry
from metrichub.catalog.search import METRIC, search_index
from metrichub.data.columns import column_of

# Every word that is asked for is looked for among those of all cards.
_LONGEST_SEARCH = 300
FILTERS = ("task", "dimension", "family", "input", "judge", "direction")


@dataclass(frozen=True)
class Item:
    """One installed metric under the name that finds it."""

    name: str
    entry: Entry

    @cached_property
    def problem(self) -> str | None:
        """Why its card can't be read, or None."""
        return self.entry.problem

    @property
    def card(self) -> Card:
        """Its card."""
        return self.entry.card

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"/metrics/{quote(self.name)}"

    @cached_property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """What each filter finds it by."""
        if self.problem:
            return dict.fromkeys(FILTERS, ())
        return {name: self.card.facets[name] for name in FILTERS}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads unless its parameters say otherwise."""
        return tuple(dict.fromkeys(map(column_of, self.card.inputs)))


def items() -> tuple[Item, ...]:
    """All installed metrics, by name."""
    return _items(registry())


@lru_cache(maxsize=1)
def _items(installed: Registry) -> tuple[Item, ...]:
    named = (Item(installed.name_of(entry), entry) for entry in installed.entries)
    return tuple(sorted(named, key=lambda item: item.name.lower()))


def matching(search: str, chosen: Mapping[str, str]) -> list[Item]:
    """The metrics that have all the chosen tags; those that answer a search, the best first."""
    named = {item.name: item for item in items()}
    if search.strip():
        pages = (
            page for page in search_index().find(search[:_LONGEST_SEARCH]) if page.kind == METRIC
        )
        ranked = [named[page.address] for page in pages if page.address in named]
    else:
        ranked = list(named.values())
    return [item for item in ranked if all(tag in item.tags[name] for name, tag in chosen.items())]


def options(all_items: Iterable[Item]) -> dict[str, list[str]]:
    """The tags to choose from for every filter."""
    tags_of: dict[str, set[str]] = {name: set() for name in FILTERS}
    for item in all_items:
        for name, tags in item.tags.items():
            tags_of[name].update(tags)
    order = {tag: i for i, tag in enumerate(JUDGES)}
    return {
        name: sorted(filter(None, tags), key=lambda tag: (order.get(tag, 0), tag))
        for name, tags in tags_of.items()
    }


def facts(item: Item, judging: Judging) -> dict[str, Any]:
    """A metric as the API lists it."""
    known = {
        "name": item.name,
        "distribution": item.entry.distribution,
        "version": item.entry.version,
        "problem": item.problem,
    }
    if item.problem:
        return known | {"unavailable": item.problem}
    card = item.card
    return known | {
        "title": card.title,
        "summary": card.summary,
        "inputs": [column_of(name) for name in card.inputs],
        "outputs": {name: scale._asdict() for name, scale in card.scores.items()},
        "tags": card.tags._asdict(),
        "judge": card.judge,
        "embedder": card.embedder,
        "license": card.license,
        "requires": card.requires,
        "install": item.entry.install or None,
        "unavailable": unavailable(item.entry, judging),
    }


def linker(item: Item) -> Callable[[str], str | None]:
    """What turns a link in a card into an address here, or None where it leads nowhere.

    Other cards lead to their pages, Markdown files in the card's own folder and the shared prompts
    to their text; nothing else of the machine can be reached.
    """
    pages = {page: other.url for other in items() if (page := _page(other))}

    def link(href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme or parts.netloc:
            return href if parts.scheme in ("http", "https", "mailto") else None
        if not parts.path:
            return f"#{parts.fragment}" if parts.fragment else None
        path = Path(posixpath.normpath(f"{item.entry.folder.as_posix()}/{unquote(parts.path)}"))
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if path in pages:
            return pages[path] + anchor
        for root, address in (
            (item.entry.folder, f"/text/{quote(item.name)}"),
            (SHARED_PROMPTS, "/prompts"),
        ):
            inside = _relative(path, root)
            if text_in(root, inside):
                return f"{address}?path={quote(inside, safe='')}"
        return None

    return link


def text_in(root: Path, path: str) -> str | None:
    """The Markdown file at a path below a folder, links resolved; None if there is none."""
    try:
        inside = root.resolve()
        file = (inside / path).resolve()
        if not path or file.suffix != ".md" or inside not in file.parents:
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def shared_prompt(path: str) -> str | None:
    """The text of a prompt that several metrics share."""
    return text_in(SHARED_PROMPTS, path)


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if root in path.parents else ""


def _page(item: Item) -> Path | None:
    return None if item.problem else item.card.path


def by_family(metrics: Iterable[Item]) -> Iterator[tuple[str, list[Item]]]:
    """The metrics of each family whose cards can be read, families by name."""
    families: dict[str, list[Item]] = {}
    for item in metrics:
        if not item.problem:
            families.setdefault(item.card.tags.family or "other", []).append(item)
    yield from sorted(families.items())
