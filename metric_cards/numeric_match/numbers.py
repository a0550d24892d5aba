"""Numbers in texts: the only one that a text has, exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

LONGEST = 1000
"""A number of more characters isn't read."""

Decimal = Literal[".", ","]


class Number(NamedTuple):
    """A number, its percent sign apart, and what stands beside it without blanks."""

    value: Fraction
    percent: bool
    unit: str


class _Plain(dict[int, str]):
    """ASCII for minus signs, percent signs, fractions and the digits of any script."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            self[code] = str(digit)
        elif unicodedata.decomposition(character).startswith("<fraction>"):
            parts = unicodedata.normalize("NFKC", character).split("\u2044")
            self[code] = f" {parts[0]}/{parts[1]}" if all(parts) else character
        else:
            self[code] = _SIGNS.get(character, character)
        return self[code]


_SIGNS = {
    "\u2212": "-",
    "\u2013": "-",
    "\uff0d": "-",
    "\ufe63": "-",
    "\uff05": "%",
    "\u066a": "%",
    "\u2044": "/",
}
_PLAIN = _Plain()
_POWER = re.compile(r"\s?(?:[x*×·]|\\times|\\cdot)\s?10\s?\^\s?\{?([-+]?\d{1,4})(?!\d)\}?")


_LATEX = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        # Separators of thousands, and other blanks.
        (r"\{,\}(?:\\!)?|,\\[!,;]\s?(?=\d)", ","),
        (r"(?<=\d)\\,(?=\d)", "\u2009"),
        (r"\\(?:[,;:!> ()\[\]]|q?quad\b|left\b|right\b|displaystyle\b)", " "),
        (r"\^\s*(?:\{\s*\\circ\s*\}|\\circ\b)|\\degree\b", "°"),
        (r"([\^_])\{([^{}]*)\}", r"\1\2"),
        # 2\frac12 is a mixed fraction.
        (r"(?<=\d)\s*(?=\\[dtc]?frac)", " "),
        (r"\\[dtc]?frac\s*(?:\{\s*(-?\d+)\s*\}|(\d))\s*(?:\{\s*(\d+)\s*\}|(\d))", r"\1\2/\3\4"),
        (r"\\(?:text\w*|mbox|math\w+|bold\w+|boxed|fbox)\s*\{([^{}]*)\}", r"\1"),
        (r"^\s*\$([^$]*)\$\.?\s*$", r"\1"),
    )
)
_COMMAND = re.compile(r"\\(?!(?:approx|times|cdot|mu|Omega|euro|pounds)\b)[A-Za-z]")
"""What makes another number of one, such as \\sqrt and \\pi."""
_SYMBOL = re.compile(r"[√∛∜]|[\d)}]\s?[*·×/]?\s?\(?π|π\s?[*·×/^]?\s?\(?\d")
"""The same as characters; "π ≈ 3.14" has a number."""


@lru_cache
def reader(decimal: Decimal) -> Callable[[str], Number | None]:
    """A function that reads a number; None from a text without one, or with several.

    What follows "####" counts alone, and LaTeX is read as far as it writes a number. A number is an
    integer, a decimal, a fraction or a mixed fraction; digits come in groups of three, or in none.
    """
    group = "," if decimal == "." else "."
    point = re.escape(decimal)
    pattern = re.compile(
        rf"""
        (?<![\w^/{decimal}])(?<!\^[-+])(?P<sign>[-+]?)(?P<currency>[$€£¥₹]?)\s?(?P<second>[-+]?)
        (?:
            (?:(?P<whole>\d++)\s++)?(?P<numerator>\d++)\s?/\s?(?P<denominator>\d++)
          | (?P<decimal>
                (?:\d{{1,3}}(?P<group>[{group}'’\u2009\u202f\u00a0])\d{{3}}(?:(?P=group)\d{{3}})*+
                   (?!\d) | \d++)
                (?:{point}\d++)?+ | {point}\d++
            )(?:[eE](?P<exponent>[-+]?\d{{1,4}}+))?+
        )
        (?P<percent>\s?(?:%|per\s?cent\b))?+
        (?!{point}?\d | [_⁰¹²³⁴-⁹] | [xX]\d | \s?\^ | /\d)
        """,
        re.VERBOSE | re.ASCII,
    )

    def read(text: str) -> Number | None:
        text = text.rpartition("####")[2].replace("\\%", "%").replace("\\$", "$")
        for pattern_of, plain in _LATEX if "\\" in text or "{" in text else ():
            text = pattern_of.sub(plain, text)
        if "\\" in text and _COMMAND.search(text):
            return None
        if not text.isascii():
            if _SYMBOL.search(text):
                return None
            text = text.translate(_PLAIN)
        text = _POWER.sub(r"e\1", text) if "^" in text else text
        matches = pattern.finditer(text)
        match = next(matches, None)
        if match is None or len(match[0]) > LONGEST or next(matches, None):
            return None
        if _is_compared(text[: match.start()]):
            return None
        value = _value(match, decimal)
        unit = "".join((text[: match.start()] + match["currency"] + text[match.end() :]).split())
        return None if value is None else Number(value, bool(match["percent"]), unit.rstrip("."))

    return read


def _is_compared(before: str) -> bool:
    """Whether a bound or a difference is what a number is said to be, as in ">= 5"."""
    before = before.rstrip().removesuffix("=").rstrip()
    return before.endswith(("<", "≤", "≥", "≠", "±")) or (before[-1:] == ">" and "<" not in before)


def _value(match: re.Match[str], decimal: Decimal) -> Fraction | None:
    if match["numerator"]:
        below = int(match["denominator"])
        if not below:
            return None
        value = Fraction(int(match["numerator"]), below) + int(match["whole"] or 0)
    else:
        digits = match["decimal"]
        digits = digits.replace(match["group"], "") if match["group"] else digits
        units, _, part = digits.partition(decimal)
        power = int(match["exponent"] or 0) - len(part)
        value = Fraction(int(units + part) * 10 ** max(power, 0), 10 ** max(-power, 0))
    return -value if (match["sign"] + match["second"]).count("-") == 1 else value
