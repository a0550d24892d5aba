"""What is wrong with a built site: dead links and anchors, and anything fetched from elsewhere."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_OUTSIDE = ("http", "https", "mailto")
# What a page fetches by itself; a link waits until somebody follows it.
_FETCHED = {"src", "srcset", "poster", "data", "background", "action", "formaction", "xlink:href"}


@dataclass
class _Reading(HTMLParser):
    """What one page has and asks for."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    active: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            text = value or ""
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(text)
            elif name == "href":
                (self.links if tag == "a" else self.fetched).append(text)
            elif name in _FETCHED:
                self.fetched.append(text)
            elif name.startswith("on"):
                self.active.append(f"<{tag} {name}>")


class _Site(NamedTuple):
    files: frozenset[str]
    pages: Mapping[str, _Reading]


def problems(folder: Path) -> tuple[str, ...]:
    """One line for each thing that is wrong with the pages of a folder, in their order.

    Every address has to be relative, so that the site works from a folder and under any path; its
    file and its anchor have to be there; and nothing may be fetched from another host.
    """
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    pages = {name: _read(files[name]) for name in sorted(files) if name.endswith(".html")}
    site = _Site(frozenset(name for name, path in files.items() if path.is_file()), pages)
    return tuple(
        f"{name}: {problem}"
        for name, page in pages.items()
        for problem in _of_page(site, name, page)
    )


def _read(path: Path) -> _Reading:
    reading = _Reading()
    reading.feed(path.read_text(encoding="utf-8"))
    reading.close()
    return reading


def _of_page(site: _Site, name: str, page: _Reading) -> Iterator[str]:
    for handler in page.active:
        yield f"an event handler, {handler}"
    for address in page.fetched:
        parts = urlsplit(address)
        if parts.scheme != "data" and (parts.scheme or parts.netloc):
            yield f"fetches {address}"
        elif reason := not parts.scheme and _dead(site, name, address):
            yield reason
    for address in page.links:
        parts = urlsplit(address)
        if parts.scheme not in _OUTSIDE and (parts.scheme or parts.netloc):
            yield f"the link {address} isn't allowed on a page"
        elif reason := not parts.scheme and _dead(site, name, address):
            yield reason


def _dead(site: _Site, name: str, address: str) -> str | None:
    parts = urlsplit(address)
    if parts.path.startswith("/"):
        return f"the address {address} isn't relative"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
    page = target if parts.path else name
    if page not in site.files:
        return f"{address} isn't there"
    anchor = unquote(parts.fragment)
    if anchor and page in site.pages and anchor not in site.pages[page].anchors:
        return f"{address}: the page has no such anchor"
    return None
