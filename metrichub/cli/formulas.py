"""Formulas of a card as a terminal can show them: fractions in one line, signs of Unicode."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.macrospec import LatexContextDb

_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"""(?<![\w$\\"])\$(?=[^\s$])([^$"`]+?)(?<=\S)\$(?![\w$])""")
_LOW = str.maketrans(
    "0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ"
)
_HIGH = str.maketrans(
    "0123456789+-=()abcdefghijklmnoprstuvwxyzβγδ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵝᵞᵟ"
)
_SPACES = dict.fromkeys([",", ";", ":", " ", "quad"], " ") | {"!": "", "qquad": "\n"}
_BARS = {"|": "‖", "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|"}
_SIGNS = _SPACES | {"{": "{", "}": "}", "models": "⊨", "nexists": "∄", "dots": "…", "ne": "≠"}
_SHORT = 8
_SIZES = re.compile(r"(left|right|[bB]igg?[lr]?)$")
_NOT = {"⊨": "⊭", "∃": "∄", "∈": "∉"}
_NEATER = ((r" ([,.)\]}])", r"\1"), (r"([(\[{]) ", r"\1"), (r" ‖(?=[ )]|$)", "‖"))
_OVER = {"bar": "\u0304", "overline": "\u0304", "hat": "\u0302", "tilde": "\u0303"}


def with_formulas(markdown: str) -> str:
    """A card's text, its formulas as plain text: displayed ones as code, others within the line."""
    parts = _CODE.split(markdown)
    for i in range(0, len(parts), 2):
        shown = _DISPLAYED.sub(lambda m: f"```text\n{formula_text(m[1])}\n```", parts[i])
        lines = _CODE.split(shown)
        for j in range(0, len(lines), 2):
            lines[j] = _INLINE.sub(lambda m: _escaped(formula_text(m[1])), lines[j])
        parts[i] = "".join(lines)
    return "".join(parts)


def formula_text(latex: str) -> str:
    r"""A formula in a line, or in several where `\qquad` parts it; half a formula as it is.

    >>> formula_text(r"F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}")
    'Fᵦ = ((1 + β²) P R) / (β² P + R)'
    """
    if latex.count("{") != latex.count("}"):
        return latex
    from pylatexenc.latexwalker import LatexWalker

    nodes, _, _ = LatexWalker(" ".join(latex.split()), latex_context=_context()).get_latex_nodes()
    text = "\n".join(" ".join(line.split()).rstrip(" ,") for line in _text(nodes).split("\n"))
    for untidy, neat in _NEATER:
        text = re.sub(untidy, neat, text, flags=re.MULTILINE)
    return text


def _text(nodes: Sequence[Any]) -> str:
    """The nodes in order; what follows "_" or "^" is set low or high."""
    parts: list[str] = []
    waiting = ""
    for node in nodes:
        pieces = list(node.chars) if hasattr(node, "chars") else [node]
        for piece in pieces:
            if isinstance(piece, str) and piece in "_^":
                waiting = piece
            elif not waiting:
                text = piece if isinstance(piece, str) else _macro_text(piece)
                # "log N / M" would be the logarithm of N alone.
                argument = "/" in text and re.search(r"(log|ln|exp)\S* ?$", "".join(parts))
                parts.append(f"({text.strip()})" if argument else text)
            elif piece != " ":
                inner = piece if isinstance(piece, str) else _macro_text(piece)
                parts.append(_script(waiting, inner))
                waiting = ""
    return "".join(parts)


def _macro_text(node: Any) -> str:
    """One macro or group."""
    if hasattr(node, "nodelist"):
        return _text(node.nodelist)
    if not hasattr(node, "macroname"):
        return str(getattr(node, "specials_chars", ""))
    name, space = node.macroname, node.macro_post_space
    if _SIZES.match(name) or name in _BARS:
        return _BARS.get(name, "")
    if name in _SIGNS:
        return f"{_SIGNS[name]}{space}"
    arguments = [
        a for a in (node.nodeargd.argnlist if node.nodeargd else []) or [] if a is not None
    ]
    if name == "not" and arguments:
        return f"{_NOT.get(sign := _text(arguments).strip(), sign)}{arguments[0].macro_post_space}"
    if name in _MADE and arguments:
        return _MADE[name]([_text([a]) for a in arguments])
    if name in _OVER and arguments:
        return f"{_text(arguments)}{_OVER[name]}"
    return f"{_plain().nodelist_to_text([node]).strip()}{space}"


def _fraction(parts: Sequence[str]) -> str:
    above, below = map(str.strip, parts)
    if _is_single(above) and _is_single(below):
        line = "/" if max(len(above), len(below)) < _SHORT else " / "
        return f"{above}{line}{below} "
    return f"{_bracketed(above)} / {_bracketed(below)} "


def _root(parts: Sequence[str]) -> str:
    inner = parts[-1].strip()
    return f"√{inner}" if re.fullmatch(r"[\d.]+|\w", inner) else f"√({inner})"


_MADE: dict[str, Callable[[Sequence[str]], str]] = {
    "frac": _fraction,
    "tfrac": _fraction,
    "dfrac": _fraction,
    "sqrt": _root,
    "text": "".join,
    "mathrm": "".join,
    "operatorname": "".join,
}


def _script(where: str, text: str) -> str:
    """A text set low or high; in brackets, or behind its sign, where Unicode lacks a letter."""
    inner = text.strip()
    table = _LOW if where == "_" else _HIGH
    word = re.fullmatch(r"[a-zA-Z]{3,}", inner)
    if not word and all(ord(sign) in table for sign in inner.replace(" ", "")):
        shown = inner.replace(" ", "").translate(table)
    else:
        shown = f"{where}{inner}" if re.fullmatch(r"\w+", inner) else f"{where}({inner})"
    return shown + " " * (len(text) - len(text.rstrip()))


def _is_single(text: str) -> bool:
    """Whether a part of a fraction needs no brackets: nothing in it stands apart."""
    return re.search(r"[-+·=/ ]", _outer(text)) is None


def _bracketed(text: str) -> str:
    return text if _is_single(text) else f"({text})"


def _outer(text: str) -> str:
    """The text without what stands in brackets and bars."""
    while (shorter := re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|\|[^|]*\|", "", text)) != text:
        text = shorter
    return text


def _escaped(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>|]", r"\\\g<0>", text.replace("\n", "; "))


@cache
def _context() -> LatexContextDb:
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import std_macro

    context = get_default_latex_context_db()
    macros = [std_macro(name, "{{") for name in ("tfrac", "dfrac")]
    macros += [std_macro("operatorname", "{"), std_macro("overline", "{")]
    context.add_context_category("metrichub", macros=macros, prepend=True)
    return context


@cache
def _plain() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text")
