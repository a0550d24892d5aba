"""Texts: which relevant text a retrieved one stands for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"(?:[^\W_\u0e00-\U0010ffff])+|.")
"""A word, or another character. Scripts from U+0E00 on have no spaces between words."""


def matched(texts: Sequence[str], relevant: Sequence[str], match: str) -> list[str | None]:
    """For each text the first relevant one that it matches and none before it did, or None."""
    left = {text: _normal(text) for text in relevant}
    matches: list[str | None] = []
    for text in map(_normal, texts):
        exact = match == "equal"
        best = next(
            (
                name
                for name, part in left.items()
                if (text == part if exact or part == _EMPTY else part in text)
            ),
            None,
        )
        if best is not None:
            del left[best]
        matches.append(best)
    return matches


def _normal(text: str) -> str:
    """The text without case and runs of blanks, with a line feed around each of its words."""
    plain = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return "\n".join(["", *_WORD.findall(plain), ""])


_EMPTY = _normal("")
