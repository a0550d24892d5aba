"""The cards' site built into a folder, alone or beside those of other versions, and checked."""

from __future__ import annotations

import errno
import json
import posixpath
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from packaging.version import InvalidVersion, Version

from metrichub import MissingDependency, SiteError
from metrichub.catalog.registry import Registry
from metrichub.site import card_pages
from metrichub.site.build_info import BuildInfo
from metrichub.site.doc_pages import CommandInfo, doc_pages
from metrichub.site.generate import generate
from metrichub.site.links import Links
from metrichub.site.site_index import GUIDES, CardPage, SiteIndex

# What marks a folder as one that may be replaced.
_MARK = ".metrichub-site"
LIST = "versions.json"
# What marks a folder as one of versions: a site of one version would replace them all.
_VERSIONS_MARK = ".metrichub-versions"
_START = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>metrichub</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">metrichub {newest}</a>
"""
_OUTSIDE = ("http", "https", "mailto")
# What a page fetches by itself; a link waits until somebody follows it.
_FETCHED = {"src", "srcset", "poster", "data", "background", "action", "formaction", "xlink:href"}


@dataclass(frozen=True)
class Built:
    """A site that was built: the number of its cards, and what was left out, a line each."""

    cards: int
    problems: tuple[str, ...]


def build_site(
    out: Path,
    installed: Registry | None = None,
    *,
    strict: bool = False,
    commands: CommandInfo | None = None,
    info: BuildInfo | None = None,
) -> Built:
    """Build the site of the installed metrics in `out`, which an earlier one may be in.

    A card that can't be read is a line on the front page and a problem; so is a link in a card
    that leads nowhere. `strict` makes problems an error, and then nothing is written.
    `commands` is what click knows of the command line, for its page; `info` says the version
    and the repository, else those of the installed distribution.

    Raises:
        MissingDependency: the extra `site` isn't installed.
        FileExistsError: `out` holds something other than such a site.
        SiteError: the generator warned, a link of the site is dead, or strict found problems.
    """
    _refuse_other_files(out)
    index = SiteIndex.of(installed or Registry.installed())
    links = Links(index)
    sources = {page.path: _page(page, links) for page in index.pages}
    beside = tuple(doc_pages(index, commands))
    starts = [(page.path, page.title) for page in beside if page.group == GUIDES]
    sources["index.html"] = card_pages.gallery_page(index, starts)
    problems = (*(f"{name}: {reason}" for name, reason in index.broken.items()), *links.problems)
    if strict and problems:
        raise SiteError(f"cards: {'; '.join(problems)}")
    with TemporaryDirectory(prefix="metrichub-site-") as folder:
        made = generate(index, sources, Path(folder), beside, info)
        if wrong := site_problems(made):
            raise SiteError(f"the built site: {'; '.join(wrong)}")
        (made / _MARK).touch()
        _replace(out, made)
    return Built(len(index.pages), problems)


def _page(page: CardPage, links: Links) -> str:
    try:
        return card_pages.card_page(page, links)
    except MissingDependency:
        raise
    # A card may be whatever its author wrote; one that can't be shown must not end the build.
    except Exception as error:  # noqa: BLE001
        reason = f"{type(error).__name__}: {error}"
        links.problems.append(f"{page.name}: {reason}")
        return card_pages.unreadable(page, reason)


def is_site(folder: Path) -> bool:
    """Whether a folder holds a site that was built."""
    return (folder / _MARK).exists()


def _refuse_other_files(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not is_site(out):
        raise FileExistsError(
            errno.EEXIST, "holds other files; choose an empty or a new folder", str(out)
        )


def _replace(out: Path, made: Path) -> None:
    """Put a site in the place of what is in `out`; if it can't be copied, nothing changes."""
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(prefix=".new-", dir=out) as folder:
            new = Path(folder)
            for path in sorted(made.rglob("*")):
                target = new / path.relative_to(made)
                target.mkdir() if path.is_dir() else shutil.copyfile(path, target)
            for old in out.iterdir():
                if old != new:
                    shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
            for path in new.iterdir():
                path.rename(out / path.name)
    except OSError as error:
        if is_new:
            out.rmdir()
        raise type(error)(error.errno, error.strerror, str(out)) from error


def build_version(out: Path, info: BuildInfo, **options: Any) -> Built:
    """Build the site of a version in a folder of `out` that has its name, beside other versions.

    The file versions.json lists the versions, the newest first, and index.html leads to the newest
    that isn't a pre-release. Takes the other options of `build_site`.

    Raises:
        FileExistsError: `out` holds something other than such a folder.
        SiteError: as `build_site`.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / _VERSIONS_MARK).exists():
        raise FileExistsError(
            errno.EEXIST, "has no versions of a site; choose an empty or a new folder", str(out)
        )
    built = build_site(out / info.version, info=info, **options)
    (out / _VERSIONS_MARK).touch()
    known = _versions(out)
    newest = next((name for name in known if not Version(name).is_prerelease), known[0])
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] * (name == newest)} for name in known
    ]
    (out / LIST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (out / "index.html").write_text(_START.format(newest=newest), encoding="utf-8")
    return built


def _versions(out: Path) -> list[str]:
    """The names of the folders with a site of a version, the newest first."""
    versions = {}
    for folder in out.iterdir():
        try:
            version = Version(folder.name)
        except InvalidVersion:
            continue
        if is_site(folder):
            versions[folder.name] = version
    return sorted(versions, key=lambda name: versions[name], reverse=True)


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


def site_problems(folder: Path) -> tuple[str, ...]:
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
