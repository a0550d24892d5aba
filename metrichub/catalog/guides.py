"""The guides: pages of docs/ by name, as search and the site read them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_HOME = Path(__file__).resolve().parents[1]
# What the site's front page begins with, and the changelog, which would answer any question.
_ASIDE = ("HOME", "CHANGELOG")
_KEYWORDS = re.compile(r"\A<!-- keywords: (.*?) -->\n", re.DOTALL)


class Guide(NamedTuple):
    """A page of docs/: its name ("RAG"), its parts, and its Markdown without the title."""

    name: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    body: str
    path: Path


def folder() -> Path:
    """Where the guides lie: in the package as it is installed, or beside it in a clone."""
    inside = _HOME / "docs"
    return inside if inside.is_dir() else _HOME.parent / "docs"


@cache
def guides() -> tuple[Guide, ...]:
    """Every guide, in the order of names."""
    paths = sorted(folder().glob("*.md"))
    return tuple(read_guide(path) for path in paths if path.stem not in _ASIDE)


def read_guide(path: Path) -> Guide:
    """The guide in a file: a comment of keywords if there is one, a title, a first paragraph."""
    text = path.read_text(encoding="utf-8")
    comment = _KEYWORDS.match(text)
    keywords = tuple(word.strip() for word in comment[1].split(",")) if comment else ()
    head, _, body = text[comment.end() if comment else 0 :].lstrip().partition("\n")
    first = " ".join(body.strip().partition("\n\n")[0].split())
    summary = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", first)
    return Guide(path.stem, head.removeprefix("# ").strip(), summary, keywords, body, path)
