"""A card's Markdown as HTML that is safe to show, no matter who wrote the card.

Raw HTML is text, formulas become MathML, every link passes through the caller, and what remains
passes an allowlist. Nothing in a card can set a style, a class, an event handler or an address of
an image.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from metrichub.errors import MissingDependency

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Comments and folds outside of code: the first alternatives match code, which stays as it is.
_COMMENT = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=fence)|.*)"
    r"|(?<!`)(?P<tick>`+)(?!`)(?:(?!\n\n).)*?(?<!`)(?P=tick)(?!`))"
    r"|<!--(?:(?!<!--).)*?-->|^(?:<details><summary>Other tasks: [\w ,]+</summary>|</details>)$",
    re.DOTALL | re.MULTILINE,
)
_TEXT = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_FORMULA = {
    "math", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup",
    "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
_SHAPE = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display",
    "displaystyle", "fence", "form", "height", "largeop", "linethickness", "lspace",
    "mathvariant", "maxsize", "minsize", "movablelimits", "rowalign", "rowlines", "rowspacing",
    "rspace", "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip
_PARTS = {
    "mfrac": 2, "mover": 2, "mroot": 2, "msub": 2, "msubsup": 3, "msup": 2, "munder": 2,
    "munderover": 3,
}  # fmt: skip
_ALLOWED = {
    "a": {"href"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
    "code": {"class"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
    **dict.fromkeys(_FORMULA, _SHAPE),
}
_SCHEMES = {"http", "https", "mailto"}


def html(markdown: str, link: Callable[[str], str | None]) -> str:
    """The Markdown as safe HTML; `link` gives the address that a link gets, or None to drop it.

    Headings have ids, tables and formulas are rendered, an image is its description, and HTML
    comments and the fold around other tasks vanish. TeX that can't be rendered is shown as code.

    Raises:
        MissingDependency: the packages of the extra `site` or `app` aren't installed.
    """
    parser = _parser()
    tokens = parser.parse(_COMMENT.sub(lambda match: match["code"] or "", markdown))
    for token in _all(tokens):
        # Pages forbid inline styles, by which cells are aligned.
        style = token.attrs.pop("style", None)
        if isinstance(style, str):
            token.attrs["align"] = style.removeprefix("text-align:")
    for token in tokens:
        _relink(token.children or [], link)
    return _clean(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.anchors import anchors_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError as error:
        raise _missing("markdown-it-py") from error

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.use(anchors_plugin, max_level=6, slug_func=slug)
    parser.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,
        allow_labels=False,
        double_inline=True,
        renderer=lambda tex, options: formula(tex, block=bool(options["display_mode"])),
    )
    parser.add_render_rule("image", lambda _, tokens, at, *__: escape(tokens[at].content))
    return parser


def slug(heading: str) -> str:
    """The id of a heading: "Limitations and bias" gives "limitations-and-bias"."""
    # Leading underscores are left to the ids of the pages around a card.
    words = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"[\s-]+", "-", words).strip("_-") or "section"


@lru_cache(maxsize=4096)
def formula(tex: str, *, block: bool = False) -> str:
    """TeX as MathML, or as code where it can't be rendered; not yet safe by itself."""
    try:
        from latex2mathml.converter import convert
    except ImportError as error:
        raise _missing("latex2mathml") from error
    try:
        mathml = convert(tex, display="block" if block else "inline")
        rendered = _balanced(tex) and _is_whole(ElementTree.fromstring(mathml))  # noqa: S314  # our own
    # The converter raises whatever broken TeX leads it to: IndexError, its own errors.
    except (Exception, RecursionError):  # noqa: BLE001  # any of them
        rendered = False
    if rendered:
        return mathml
    return f"<pre><code>{escape(tex)}</code></pre>" if block else f"<code>{escape(tex)}</code>"


def _balanced(tex: str) -> bool:
    braces = re.sub(r"\\.", "", tex)
    return braces.count("{") == braces.count("}")


def _is_whole(mathml: ElementTree.Element) -> bool:
    """Whether every command was understood and has its arguments."""
    for element in mathml.iter():
        tag = element.tag.rpartition("}")[2]
        if tag not in _FORMULA or len(element) != _PARTS.get(tag, len(element)):
            return False
        if tag != "mtext" and "\\" in (element.text or ""):
            return False
    return True


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _relink(tokens: Sequence[Token], link: Callable[[str], str | None]) -> None:
    """Give every link of a line its new address; the text of a dropped one stays."""
    dropped: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            target = link(str(token.attrs["href"]))
            token.attrs = {} if target is None else {"href": target}
            dropped.append(target is None)
            token.hidden = dropped[-1]
        elif token.type == "link_close":
            token.hidden = dropped.pop()


def _clean(text: str) -> str:
    try:
        import nh3
    except ImportError as error:
        raise _missing("nh3") from error

    def keep(tag: str, attribute: str, value: str) -> str | None:
        if attribute == "class":
            return value if re.fullmatch(r"language-[\w+-]+", value) else None
        return value

    return nh3.clean(
        text,
        tags=_TEXT | _FORMULA,
        attributes=_ALLOWED,
        attribute_filter=keep,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
    )


def _missing(package: str) -> MissingDependency:
    return MissingDependency("showing cards as pages", package, "pip install 'metrichub[site]'")
