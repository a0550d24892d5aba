"""Causes of mismatches: the steps after which two texts that differ are equal, or nearly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

_QUOTES = str.maketrans("‘’‚‛′ʼ“”„‟″«»‐‑‒–—―−", "'" * 6 + '"' * 7 + "-" * 7)
_CEDILLAS = str.maketrans("ţşŢŞ", "țșȚȘ")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_BREAKS = re.compile(r"[\r\n\u2028\u2029]+|\\n")
# The signs and points of numbers stay.
_MARKS = re.compile(r"\*\*|(?!-\d)(?!(?<=\d)[.,]\d)[^\w\s+#*/<>=%$&@^~|\\]|_")

STEPS: Mapping[str, Callable[[str], str]] = {
    "removing zero-width characters": lambda text: _UNSEEN.sub("", text),
    "joining lines": lambda text: _BREAKS.sub(" ", text),
    "commas below in place of cedillas": lambda text: text.translate(_CEDILLAS),
    "straight quotes and dashes": lambda text: text.translate(_QUOTES),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "lower case": str.lower,
    "removing punctuation": lambda text: " ".join(_MARKS.sub(" ", text).split()),
    "strip": str.strip,
    "single spaces": lambda text: " ".join(text.split()),
    "removing spaces": lambda text: "".join(text.split()),
}
"""The steps by name, in the order in which both texts take them."""

PARAMETERS: Sequence[tuple[str, str, object]] = (
    ("strip", "normalization", "strip"),
    ("lower case", "lowercase", True),
    ("lower case", "ignore_case", True),
    ("removing punctuation", "ignore_punctuation", True),
    ("removing spaces", "spaces", False),
    ("lower case and removing punctuation", "normalizer", "whisper-basic"),
    ("lower case and removing punctuation", "normalization", "squad"),
)
"""The parameters of metrics that do the same to both texts."""
_ALL = tuple(STEPS)
_ASCII = ("joining lines", "lower case", "removing punctuation", "strip", "single spaces")
USUAL = ("lower case", "removing punctuation", "strip", "single spaces", "removing spaces")
_MANY = 0.4
"""The share of a text's words that case and punctuation must make different to be worth a word."""


def after(text: str, steps: Sequence[str]) -> str:
    """The text after some of the steps."""
    for step in steps:
        text = STEPS[step](text)
    return text


def made_of(first: str, second: str, nearly: bool) -> tuple[str, ...]:
    """The fewest steps after which two texts are equal; nothing where all aren't enough.

    With `nearly`, those after which many words of the first meet their like, or any words where
    the steps are other ones than case and punctuation.
    """
    words = first.split()
    lacking = len({*words} - {*second.split()})
    every = _ASCII if first.isascii() and second.isascii() else _ALL

    def met(steps: Sequence[str]) -> int:
        a, b = after(first, steps), after(second, steps)
        if "removing spaces" in steps or a == b:
            return (len(words) + 1) * (a == b != "")
        return lacking - len({*a.split()} - {*b.split()})

    if first == second:
        return ()
    spaced, other = every if every is _ASCII else every[:-1], every[: -len(USUAL)]
    many = max(_MANY * len({*words}), 3)
    if met(every) <= len(words) and not (nearly and (met(spaced) >= many or met(other) >= 1)):
        return ()
    for steps in (*((step,) for step in ("strip", *every)), other, spaced, every):
        most = met(steps)
        if most > len(words) or (nearly and most >= (many if {*steps} & {*USUAL} else 1)):
            needed = list(steps)
            for step in steps:
                fewer = [other for other in needed if other != step]
                if fewer and met(fewer) >= most:
                    needed = fewer
            return tuple(needed)
    return ()
