"""A Python-Markdown extension: formulas become MathML, and authors' HTML stays text.

A card may come from anybody. None of its HTML reaches a page, its links lead to files and the web
only, and its pictures are named instead of fetched.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from metrichub.report.html.markup import html

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TAGS = "<!-- material/tags -->"
"""What the generator replaces by a list of all tags, as on `skeleton/docs/tags.md`."""
_SCHEMES = ("", "http", "https", "mailto")
# Fenced code is left alone, an example is marked as one, other tasks fold, and comments vanish.
_PARTS = re.compile(
    r"(?P<fenced>^(?P<fence>`{3,}).*?^(?P=fence)$)|(?P<example>^>{3} .*?)(?=\n\s*$|\Z)"
    r"|(?P<fold>^<details><summary>Other tasks: [\w ,]+</summary>$|^</details>$)|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[]\s*(?P<tex>.*?)\s*\\[)\]]</(?P=tag)>', re.DOTALL
)


class MarkdownRules(Extension):
    """The extension: its steps before, in and after the generator's Markdown."""

    def extendMarkdown(self, md: Any) -> None:
        """Register each step."""
        md.preprocessors.deregister("html_block")
        md.inlinePatterns.deregister("html")
        # Before code is taken out, after everything is in the tree, and when the page is text.
        md.preprocessors.register(_Parts(md), "metrichub_parts", 30)
        md.treeprocessors.register(_Addresses(md), "metrichub_addresses", 1)
        md.postprocessors.register(_Formulas(md), "metrichub_formulas", 5)


class _Parts(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return _PARTS.sub(self._part, "\n".join(lines)).split("\n")

    def _part(self, match: re.Match[str]) -> str:
        if example := match["example"]:
            return f"```pycon\n{example}\n```"
        if match[0] == TAGS or match["fold"]:
            return str(self.md.htmlStash.store(match[0]))
        return (match["fenced"] or "").replace("```python\n>>>", "```pycon\n>>>", 1)


class _Addresses(Treeprocessor):
    def run(self, root: Element) -> None:
        for element in root.iter():
            if urlsplit(element.get("href", "")).scheme not in _SCHEMES:
                del element.attrib["href"]
            if urlsplit(source := element.get("src", "")).scheme or source.startswith("/"):
                element.tag, element.text = "span", element.get("alt")
                element.attrib.clear()


class _Formulas(Postprocessor):
    def run(self, text: str) -> str:
        return _FORMULA.sub(_formula, text)


def _formula(match: re.Match[str]) -> str:
    marks = "$" if match["tag"] == "span" else "$$"
    formula = html(f"{marks}{unescape(match['tex'])}{marks}", lambda _: None).strip()
    is_inline = match["tag"] == "span"
    return formula.removeprefix("<p>").removesuffix("</p>") if is_inline else formula


def makeExtension(**_: Any) -> MarkdownRules:
    """The extension, as Markdown asks for it."""
    return MarkdownRules()
