"""Where the links of a card lead on the site, and the prompts that its page holds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from metrichub.authoring import SHARED_PROMPTS
from metrichub.catalog.guides import guides
from metrichub.report.html.markup import html, slug
from metrichub.site.site_index import CardPage, SiteIndex

_OUTSIDE = ("http", "https", "mailto")
_LONGEST = 100_000
_PROMPT = re.compile(r"\[[^\]]*\]\(([^)\s]+\.md)\)")
_RULE = re.compile(r"<!--\s*offline:.*?-->\s*")
"""What a prompt's file has for judges without a model, and no reader."""


@dataclass(frozen=True)
class PromptPage:
    """A prompt that a card's page shows: its title, its anchor and its text."""

    title: str
    anchor: str
    text: str


@dataclass
class Links:
    """The links of all cards of an index, as they are on the site.

    `problems` collects the links that lead nowhere; such a link is dropped, and its text stays.
    """

    index: SiteIndex
    problems: list[str] = field(default_factory=list)

    def of(self, page: CardPage) -> Callable[[str], str | None]:
        """What a link in a page's card becomes: an address on the site, or None to drop it."""

        def link(href: str) -> str | None:
            if urlsplit(href).scheme in _OUTSIDE:
                return href
            address = self._inside(page, href)
            if address is None:
                self.problems.append(f"{page.name}: the link {href!r} leads nowhere on the site")
            return address

        return link

    def prompts(self, page: CardPage) -> Mapping[Path, PromptPage]:
        """The prompts of a page by file: those in the metric's folder, and the shared ones linked.

        Nothing outside of these two folders is read, whatever a link or a symbolic link says.
        """
        return self._prompts[page.path]

    @cached_property
    def _prompts(self) -> Mapping[str, Mapping[Path, PromptPage]]:
        return {page.path: _prompts(page) for page in self.index.pages}

    @cached_property
    def _anchors(self) -> Mapping[str, frozenset[str]]:
        """The ids of every page's headings."""
        return {
            page.path: frozenset(re.findall(r'<h\d id="([^"]+)"', html(page.card.body, _nowhere)))
            for page in self.index.pages
        }

    def _inside(self, page: CardPage, href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            return None
        if not parts.path:
            return f"#{parts.fragment}" if self._has(page, parts.fragment) else None
        folder = page.entry.folder.resolve()
        target = Path(os.path.normpath(folder / unquote(parts.path)))
        if target == folder.parent / "README.md":
            return "../index.html"
        # The page itself comes first, as it may be the one that shows a shared prompt.
        for other in (page, *self.index.pages):
            if prompt := self.prompts(other).get(target):
                return f"{_address(page, other)}#{prompt.anchor}"
        # Cards and guides are folders of a clone, wherever they are installed.
        guide = re.fullmatch(r"(?:\.\./)+docs/(\w+)\.md", parts.path)
        if guide and page.entry.distribution == "metrichub":
            return _guide_address(guide[1], parts.fragment)
        card = self.index.by_folder.get(target.parent) if target.name == "README.md" else None
        if card is None or not self._has(card, parts.fragment):
            return None
        return _address(page, card) + (f"#{parts.fragment}" if parts.fragment else "")

    def _has(self, page: CardPage, anchor: str) -> bool:
        return not anchor or unquote(anchor) in self._anchors[page.path]


def guide_path(name: str) -> str:
    """Where the page of a guide lies on the site."""
    return f"guides/{name.lower()}.html"


def _guide_address(name: str, anchor: str) -> str | None:
    """The address of a guide, or of a heading in it, from the page of a card; None without it."""
    body = next((guide.body for guide in guides() if guide.name == name), None)
    if body is None or (anchor and f'id="{anchor}"' not in html(body, _nowhere)):
        return None
    return f"../{guide_path(name)}" + (f"#{anchor}" if anchor else "")


def _nowhere(_: str) -> None:
    return None


def _address(page: CardPage, other: CardPage) -> str:
    return "" if other is page else quote(other.path.removeprefix("metrics/"))


def _prompts(page: CardPage) -> Mapping[Path, PromptPage]:
    folder = page.entry.folder.resolve()
    linked = [
        Path(os.path.normpath(folder / unquote(href))) for href in _PROMPT.findall(page.card.body)
    ]
    paths = [*sorted((folder / "prompts").glob("*.md")), *linked]
    prompts: dict[Path, PromptPage] = {}
    for path in dict.fromkeys(paths):
        text = _read(path, folder) if path != folder / "README.md" else None
        if text is not None:
            anchor = f"prompt-{slug(path.stem)}"
            number = sum(prompt.anchor.startswith(anchor) for prompt in prompts.values())
            prompts[path] = PromptPage(path.stem, anchor + f"-{number + 1}" * bool(number), text)
    return prompts


def _read(path: Path, folder: Path) -> str | None:
    """The text of a file that truly lies in the metric's folder or among the shared prompts."""
    try:
        real = path.resolve(strict=True)
        homes = folder, SHARED_PROMPTS.resolve()
        if not any(real.is_relative_to(home) for home in homes):
            return None
        if not real.is_file() or real.stat().st_size > _LONGEST:
            return None
        text = real.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return _RULE.sub("", text, count=1).strip("\n")
