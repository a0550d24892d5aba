"""Text for a screen: signs that its encoding has, styles unless they are declined, lines."""

from __future__ import annotations

import codecs
import os
import re
import sys
import textwrap
from typing import Any

import click

from metrichub.errors import printable

_SIGNS = str.maketrans({
    "≈": "~", "−": "-", "–": "-", "·": "|", "…": "...", "±": "+-", "×": "x", "≤": "<=", "≥": ">=",
    "↑": "(higher)", "↓": "(lower)", "→": "->", "←": "<-", "‘": "'", "’": "'", "“": '"', "”": '"',
    "─": "-", "│": "|", "┼": "+", "●": "o", "━": "-", "∞": "inf",
})  # fmt: skip
"""The replacements of signs that a screen lacks."""


def _without(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SIGNS)
    return text.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error("metrichub", _without)


def plain(text: str) -> str:
    """The text as stdout can show it, for what is laid out in columns: there "≈" may be "~"."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "metrichub").decode(encoding)


def styled(text: str, **style: Any) -> str:
    """The text in bold, dim, red or green (`fg`), unless NO_COLOR or TERM=dumb declines it.

    `click.echo` leaves the style out where stdout isn't a terminal.
    """
    declined = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if declined else click.style(text, **style)


def screened(text: str) -> str:
    """Lines of a screen with nothing else in them that a terminal obeys than the styles here."""
    parts = re.split(r"(\x1b\[(?:[012]|3[12])m)", text)
    return "".join(part if k % 2 else printable(part, lines=True) for k, part in enumerate(parts))


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, broken between words but not within "p = .05"."""
    unbroken = re.sub(r"p ([=<≤>]) \.", "p\u00a0\\1\u00a0.", text)
    lines = textwrap.wrap(unbroken, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]
