"""The site's pages beside the cards: guides, reference, and what lives elsewhere."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from metrichub.catalog import guides
from metrichub.catalog.elsewhere import all_elsewhere
from metrichub.site import example_report
from metrichub.site.api_reference import reference
from metrichub.site.card_pages import highlighted, page_of
from metrichub.site.site_index import GUIDES, REFERENCE, DocPage, SiteIndex
from metrichub.web.markup import html

CommandInfo = Mapping[str, Any]
"""A command as `click.Command.to_info_dict` gives it."""
_ORDER = (
    *("FIRST", "TASKS", "COMPARE", "JUDGES", "GATE", "OWN", "PEOPLE"),
    *("LARGE", "BRIDGES", "MOVING"),
)
"""The guides in the order in which one reads them; other pages of docs/ are reference."""


def doc_pages(index: SiteIndex, commands: CommandInfo | None = None) -> Iterator[DocPage]:
    """The guides in their order, then the reference, that of `commands` too if they are given."""
    known = {guide.name: guide for guide in guides.guides()}
    order = [name for name in _ORDER if name in known]
    for name in (*order, *(name for name in known if name not in order)):
        guide = known[name]
        group = GUIDES if name in order else REFERENCE
        text = f"# {guide.title}\n{guide.body}"
        page = _html(text, guide.path, index)
        source = f"docs/{guide.path.name}"
        yield DocPage(_path(name), guide.title, guide.summary, group, page, source=source)
    yield from example_report.example_pages(index)
    yield _elsewhere()
    yield from reference()
    if commands:
        yield command_line(commands)
    yield from _changelog(index)


def _path(name: str) -> str:
    return f"guides/{name.lower()}.html"


def _html(text: str, path: Path, index: SiteIndex) -> str:
    return highlighted(html(text, _link(path, index)))


def _link(path: Path, index: SiteIndex) -> Callable[[str], str | None]:
    """What a link in a guide becomes: a page of the site, an address outside, or None."""
    known = {guide.path: _path(guide.name) for guide in guides.guides()}

    def link(href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme in ("http", "https", "mailto") or not parts.path:
            return href
        target = Path(os.path.normpath(path.parent / unquote(parts.path)))
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if target in known:
            return known[target].removeprefix("guides/") + anchor
        if target.parts[-2:] == ("examples", "README.md"):
            return f"../{example_report.PATH}" if example_report.is_in(index) else None
        # Cards are links between folders of a clone, wherever they are installed.
        match = re.fullmatch(r"(?:\.\./)*metric_cards/(\w+)/README\.md", parts.path)
        card = next((page for page in index.pages if match and page.name == match[1]), None)
        return f"../{quote(card.path)}{anchor}" if card else None

    return link


def _changelog(index: SiteIndex) -> Iterator[DocPage]:
    home = guides.folder()
    for path in (home / "CHANGELOG.md", home.parent / "CHANGELOG.md"):
        if path.is_file():
            page = _html(path.read_text(encoding="utf-8"), path, index)
            yield DocPage(
                "guides/changelog.html", "Changelog", "What changed.", REFERENCE, page,
                source="CHANGELOG.md",
            )  # fmt: skip
            return


def _elsewhere() -> DocPage:
    summary = "Known metrics that metrichub doesn't include, and where to find them."
    known = sorted(all_elsewhere(), key=lambda metric: metric.title.casefold())
    page = page_of("elsewhere.html", known=known, summary=summary)
    return DocPage("elsewhere.html", "Metrics not included", summary, REFERENCE, page)


class _Option(NamedTuple):
    names: str
    help: str
    default: str


class _Shown(NamedTuple):
    name: str
    anchor: str
    paragraphs: tuple[str, ...]
    arguments: tuple[str, ...]
    options: tuple[_Option, ...]


def command_line(info: CommandInfo) -> DocPage:
    """The page of all commands with their options."""
    summary = "Every command of metrichub with its options."
    page = page_of("commands.html", summary=summary, commands=tuple(_commands("metrichub", info)))
    return DocPage("commands.html", "Command line", summary, REFERENCE, page)


def _commands(name: str, info: CommandInfo) -> Iterator[_Shown]:
    """A command, and those below it."""
    text = inspect.cleandoc(info.get("help") or "").replace("\b\n", "")
    shown = [p for p in info["params"] if not p.get("hidden")]
    arguments = [p for p in shown if p["param_type_name"] == "argument"]
    yield _Shown(
        name,
        name.replace(" ", "-"),
        tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip()),
        tuple(p["metavar"] if p.get("metavar") else p["name"].upper() for p in arguments),
        tuple(_option(p) for p in shown if p["param_type_name"] == "option"),
    )
    for below, command in info.get("commands", {}).items():
        if not command.get("hidden"):
            yield from _commands(f"{name} {below}", command)


def _option(info: CommandInfo) -> _Option:
    names = ", ".join([*info["opts"], *info["secondary_opts"]])
    kind = "" if info["is_flag"] else str(info["type"].get("name", "")).upper()
    default = info["default"]
    plain = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    return _Option(f"{names} {kind}".strip(), info.get("help") or "", str(default) if plain else "")
