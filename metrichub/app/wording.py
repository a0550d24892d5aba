"""Wording: what an error or a note says on a page, which has neither options nor Python."""

from __future__ import annotations

import re

_CALL = r"columns=\{[^}]*\} or --columns \S+=\S+"
_ON_PAGES: tuple[tuple[str, str], ...] = (
    (rf"; map the columns with {_CALL}", "; choose the column below"),
    (rf"; choose with {_CALL}", "; choose the column below"),
    (r"; choose one with --columns \S+=\S+", "; choose the column below"),
    (
        rf"; choose another column with {_CALL}",
        "; another column can be chosen where the file is uploaded",
    ),
    (r"give --input-format (\w+)", r"rename it to end in .\1"),
    (r"; see 'metrichub compare --help'", "; upload the samples that it was made from"),
)
_IN_JSON = (rf"({_CALL.partition(' or ')[0]}) or --columns \S+=\S+", r"\1")


def page_words(text: str) -> str:
    """The text with ways out that the page has.

    >>> page_words("two could both be references; choose with columns={'references': 'a'} or "
    ...            "--columns references=a")
    'two could both be references; choose the column below'
    >>> page_words("is it JSON Lines? Then give --input-format jsonl")
    'is it JSON Lines? Then rename it to end in .jsonl'
    """
    for pattern, words in _ON_PAGES:
        text = re.sub(pattern, words, text)
    return text


def json_words(text: str) -> str:
    """The text with ways out that the JSON API has.

    >>> json_words("choose with columns={'references': 'a'} or --columns references=a")
    "choose with columns={'references': 'a'}"
    """
    return re.sub(*_IN_JSON, text)
