"""Texts that have UTF-8, as tokenizers and splitters of other libraries need them."""

from __future__ import annotations


def well_formed(text: str) -> str:
    r"""The text with each lone surrogate replaced by U+FFFD; nothing else changes.

    >>> well_formed("a\ud800b") == "a\ufffdb"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
