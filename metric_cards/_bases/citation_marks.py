"""Citation marks: numbers in brackets, such as [1], [2, 4], [3-5], [^1] and 【1】."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDEST = 100
"""A range of more numbers, such as [1-2000], counts as its two ends."""
_NUMBERS = r"\d{1,6}(?:\s{0,3}[-–,;]\s{0,3}\^?\d{1,6})*"
MARK = re.compile(rf"\[\^?({_NUMBERS})\]|【(\d{{1,6}})[^】\n]{{0,80}}】")
_RANGE = re.compile(r"(\d+)\s*(?:[-–]\s*\^?(\d+))?")


def cited_numbers(text: str) -> Iterator[int]:
    """The numbers in a text's marks, in their order; those of a range one by one."""
    for match in MARK.finditer(text):
        for part in _RANGE.finditer(match[1] or match[2]):
            first, last = int(part[1]), int(part[2] or part[1])
            is_range = 0 <= last - first < WIDEST
            yield from range(first, last + 1) if is_range else (first, last)
