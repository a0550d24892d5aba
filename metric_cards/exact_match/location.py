"""Location: where in a prediction a reference stands, as whole words or as any characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Location = Literal["exact", "begin", "end", "any"]

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_INSIDE = re.compile(rf"[^\W{_UNSPACED}]{{2}}")
"""Two letters or digits of one word; in these scripts, words have no blanks between them."""


def stands_at(location: Location, prediction: str, reference: str, whole_words: bool) -> bool:
    """Whether the prediction has the reference there.

    With `whole_words`, it begins and ends where words do, and an empty one is in an empty
    prediction alone.
    """
    if location == "exact" or (whole_words and not reference):
        return prediction == reference
    if not whole_words:
        places = {"begin": prediction.startswith, "end": prediction.endswith}
        return places.get(location, prediction.__contains__)(reference)
    return any(
        not _is_inside(prediction, start) and not _is_inside(prediction, start + len(reference))
        for start in _starts(location, prediction, reference)
    )


def _starts(location: Location, prediction: str, reference: str) -> Iterator[int]:
    if location == "begin":
        yield from [0] * prediction.startswith(reference)
    elif location == "end":
        yield from [len(prediction) - len(reference)] * prediction.endswith(reference)
    else:
        start = prediction.find(reference)
        while start >= 0:
            yield start
            start = prediction.find(reference, start + 1)


def _is_inside(text: str, place: int) -> bool:
    """Whether a place is between two letters of a word."""
    return place > 0 and _INSIDE.match(text, place - 1) is not None
