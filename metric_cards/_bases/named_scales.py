"""Named scales: the scale of grades that instructions to a judge have in their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from metrichub.errors import ParameterError

_WORDS = {
    **{"zero": 0, "one": 1, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10},
    **{"hundred": 100, "五": 5, "十": 10, "百": 100},
}
_NUMBER = r"-?\d+(?:\.\d+)?|zero|one|three|four|five|six|seven|ten|hundred"
_RANGE = re.compile(
    # Neither part of a date, a time, a price nor of a longer number; "1 (worst) to 10 (best)".
    rf"(?<![\w.,:/$€£+-])(?P<low>{_NUMBER})\s?%?(?:\s*(?:=\s*\w+|\([^()]{{1,40}}\)))?"
    rf"\s*(?:[-–—~]|\.\.+|…|\bto\b|\bthrough\b|\band\b|\bor\b)\s*"
    rf"(?P<high>{_NUMBER})(?![\w€£°]|[.,:/]\d|\s?[-–—]\s?\w)",
    re.IGNORECASE,
)
_GRADES = (
    r"\b(?:scales?|scor(?:e[sd]?|ing)|rat(?:e[sd]?|ings?)|grad(?:ed?|ing)|marks?|points|assign"
    r"|stars|likert)\b"
)
_NO_UNIT = re.compile(
    r"\s*%?(?:\s*\([^()]*\))?(?:$|\s*[^\w\s$€£°%(]|\s*\n|\s*\(|\s+(?:scale|points?|stars?|scores?|"
    r"ratings?|grades?|where|with|based|according|depending|inclusive|for|how|on|in|by|if|being|as|"
    r"is|are|that|which|indicating|reflecting|representing|and|to|using)\b)",
    re.IGNORECASE,
)
"""What follows a scale; another word is what is counted, as in "3 to 5 sentences"."""
_TOWARDS = re.compile(
    rf"(?:{_GRADES}|\b(?:number|integer|float|decimal|value)\b)"
    r"(?:[^\w.;!?\n]+\w+){0,6}?[^\w.;!?\n]+(?:from|between|of|on|in|within|range|using|at)\s*[(\[:]?\s*$"
    rf"|{_GRADES}(?:[^\w.;!?\n]+(?!\w+s\b)\w+){{0,3}}[^\w.;!?\n]*$"
    r"|\bscale\b[^.;!?\n]{0,40}$",
    re.IGNORECASE,
)
"""What leads to a scale: "a score from", "rate the answer"."""
_COUNTED = re.compile(
    r"\b(?:count(?:s|ed|ing)?|numbers|integers|digits|values|pages?|chapters?|sections?|steps?|"
    r"items?|lines?|questions?|ages?|aged|years?|grades|levels?|weeks?|days?|verses?|parts?|rules?)"
    r"\s+(?:from\s+|between\s+|\()?$",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\b(?:from|between)\s+$|[(\[]\s*$", re.IGNORECASE)
_BRACKETS = re.compile(r"\[\s*(?P<low>[01])(?:\.0+)?\s*[,;]\s*(?P<high>\d+)(?:\.0+)?\s*\]")
_OF_SCALE = re.compile(r"\s*(?:-?\s?point\s)?\s*scale\b", re.IGNORECASE)
_BAND = re.compile(r"\s*(?:[:=]|(?:if|when|for|unless)\b)", re.IGNORECASE)
"""What follows some grades of a scale: "score 1-2 if it errs"."""
_HEADED = re.compile(r"\s*\)\s*[:–—-]")
"""What follows the scale in a heading: "Fluency (1-3): the quality of the words"."""
_USUAL = {(low, high) for low in (0, 1) for high in (5, 7, 10, 100)} | {(0, 1)}
"""Scales that stand alone: "(1-10)", "from 1 to 10"."""
_OUT_OF = re.compile(
    rf"\bout of (?:a (?:possible |maximum of |total of )?)?(?P<high>\d+|five|seven|ten|hundred)\b"
    rf"|{_GRADES}[^.;!?\n]{{0,30}}?/\s?(?P<slash>10|100)\b(?![/\d])"
    r"|\b(?P<points>\d+|three|four|five|six|seven|ten|hundred)[ -](?:point|star|grade)s?"
    r"[ -](?:scale|likert|rating|system)"
    r"|满分\D{0,3}(?P<full>\d+)|(?P<system>[五十百]|\d+)分制",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"(?P<low>\d+)\s*分?\s*(?:到|至|[-–—~])\s*(?P<high>\d+)\s*分(?![钟之米钱])")


class NamedScale(NamedTuple):
    """The words that name a scale, its highest number, and its lowest if they say it."""

    words: str
    low: float | None
    high: float
    is_band: bool = False


def check_scale(
    metric: str, parameter: str, texts: str | Sequence[str], scale: tuple[int, int], ways: str
) -> None:
    """Raise ParameterError for texts that name another scale; `ways` are how to set one.

    A judge that follows them would give the highest grade of theirs, which is another one here.
    """
    for text in [texts] if isinstance(texts, str) else texts:
        if named := other_scale(text, scale):
            low, high = scale
            allowed = (
                f"words without a scale, or with that of the metric, {low} to {high}: "
                f"{named.words.strip()!r} names another ({ways}; the output score is from 0 to 1 "
                "on any scale)"
            )
            raise ParameterError(metric, parameter, texts, allowed)


def other_scale(text: str, scale: tuple[int, int]) -> NamedScale | None:
    """The first scale that a text names other than this one, None if there is none."""
    low, high = scale
    for named in _named(text):
        if named.low is None:
            same = named.high in (high, high - low + 1)
        else:
            inside = low <= named.low and named.high <= high
            same = (named.low, named.high) == scale or (inside and named.is_band)
        if not same:
            return named
    return None


def _named(text: str) -> Iterator[NamedScale]:
    for pattern in (_CHINESE, _BRACKETS):
        for match in pattern.finditer(text):
            yield NamedScale(match[0], _value(match["low"]), _value(match["high"]))
    for match in _OUT_OF.finditer(text):
        high = next(filter(None, match.groups()))
        if not match["high"] or _NO_UNIT.match(text, match.end()):
            yield NamedScale(match[0], None, _value(high))
    for match in _RANGE.finditer(text):
        low, high = _value(match["low"]), _value(match["high"])
        before = text[: match.start()]
        # A list may have 3 to 5 entries, and greater numbers are years and amounts.
        if low > 1 or not low < high <= 1000:
            continue
        if _OF_SCALE.match(text, match.end()):
            yield NamedScale(match[0], low, high)
        if _COUNTED.search(before) or not _NO_UNIT.match(text, match.end()):
            continue
        as_decimals = "." in match["low"] + match["high"] and (low, high) == (0, 1)
        usual = (low, high) in _USUAL or _HEADED.match(text, match.end())
        alone = usual and _ALONE.search(before)
        if as_decimals or alone or _TOWARDS.search(before):
            is_band = not as_decimals and bool(_BAND.match(text, match.end()))
            yield NamedScale(match[0], low, high, is_band)


def _value(number: str) -> float:
    value = _WORDS.get(number.lower())
    return float(number) if value is None else value
