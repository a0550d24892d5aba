"""A Python-Markdown extension for pages that are HTML already.

The generator reads Markdown. Our pages hold sanitized HTML, which Markdown must not touch again:
with this extension the text of a page passes as it is, and only its headings are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any, NamedTuple

from markdown.extensions import Extension

_HEADING = re.compile(r'<h([2-3]) id="([^"]+)"[^>]*>(.*?)</h\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


class HtmlPassthrough(Extension):  # type: ignore[misc]  # the package is untyped
    """Takes a page before any other step of Markdown, and puts it back after all of them."""

    def extendMarkdown(self, md: Any) -> None:
        """Register both steps."""
        taken = _SetAside(md)
        md.preprocessors.register(_Step(taken.take), "metrichub_take", 1_000_000)
        md.postprocessors.register(_Step(taken.give), "metrichub_give", -1_000_000)


class _Step(NamedTuple):
    """A step as Markdown calls it."""

    run: Callable[[Any], Any]


@dataclass
class _SetAside:
    markdown: Any
    page: str = ""

    def take(self, lines: list[str]) -> list[str]:
        self.page = "\n".join(lines)
        return []

    def give(self, _: str) -> str:
        # The extension "toc" of Markdown has set this to the headings that it saw, which are none.
        self.markdown.toc_tokens = contents(self.page)
        return self.page


def contents(page: str) -> list[dict[str, Any]]:
    """The headings of the second and third level, as a tree in the shape that "toc" gives."""
    tree: list[dict[str, Any]] = []
    for level, anchor, inner in _HEADING.findall(page):
        plain = _TAG.sub("", inner)
        token = {
            "level": int(level), "id": anchor, "name": unescape(plain), "html": plain,
            "data-toc-label": "", "children": [],
        }  # fmt: skip
        below = tree[-1]["children"] if tree and level == "3" else tree
        below.append(token)
    return tree


def makeExtension(**_: Any) -> HtmlPassthrough:
    """The extension, as Markdown asks for it."""
    return HtmlPassthrough()
