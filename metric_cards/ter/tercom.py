"""Tercom's normalization of a text before its words are compared, as in sacrebleu 2.6."""

from __future__ import annotations

import re

_STEPS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\n-", ""),
        (r"\n", " "),
        ("&quot;", '"'),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        (r"([ -&(-+/:-@\[-`{-~])", r" \1 "),
        (r"'s ", " 's "),
        (r"([^0-9])([.,])", r"\1 \2 "),
        (r"([.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )
)
"""Line ends, entities, then ASCII symbols, possessives, and points and dashes by their digits."""

_ASIAN_MARKS = "\u3001\u3002\u3008-\u3011\u3014-\u301f\u30fb\uff61-\uff65"
_WIDE_MARKS = "\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
_IDEOGRAPHS = "\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f"

_MARK = re.compile(r"[.,?:;!\"()]")
_ASIAN_MARK = re.compile(f"[{_ASIAN_MARKS}{_WIDE_MARKS}]")
_ASIAN_CHARACTER = re.compile(f"([{_IDEOGRAPHS}{_ASIAN_MARKS}{_WIDE_MARKS}])")


def split_marks(text: str, asian: bool) -> str:
    """The text with spaces around punctuation; around ideographs and their marks too if `asian`.

    Kana is never split: the official expressions for it ask for a match at the start of a text
    that starts with a space.
    """
    text = f" {text.rstrip()} "
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return _ASIAN_CHARACTER.sub(r" \1 ", text) if asian else text


def drop_marks(text: str, asian: bool) -> str:
    """The text without punctuation: common ASCII marks, and those of Asian scripts if `asian`."""
    text = _MARK.sub("", text)
    return _ASIAN_MARK.sub("", text) if asian else text
