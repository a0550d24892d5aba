"""MQM: scores of segments from the errors that raters marked, by the weights of WMT."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from metrichub.errors import InputError, what

MAJOR, MINOR, PUNCTUATION, NON_TRANSLATION = 5.0, 1.0, 0.1, 25.0


def error_weight(severity: str, category: str = "") -> float:
    """The weight of an error: major 5, minor 1, minor punctuation .1, non-translation 25, none 0.

    Freitag et al. (2021), table 12.

    >>> error_weight("Minor", "Fluency/Punctuation"), error_weight("no-error")
    (0.1, 0.0)
    """
    how, kind = severity.strip().lower(), category.strip().lower()
    if kind.startswith("non-translation"):
        return NON_TRANSLATION
    if how in ("no-error", "no error", "neutral") or kind in ("no-error", "no error"):
        return 0.0
    if how in ("major", "critical"):
        return MAJOR
    if how == "minor":
        return PUNCTUATION if kind == "fluency/punctuation" else MINOR
    raise InputError(f"an error is 'major', 'minor' or 'no-error', not {severity!r}")


def span_scores(
    segments: Sequence[Hashable],
    severities: Sequence[str],
    categories: Sequence[str] | None = None,
    raters: Sequence[Hashable] | None = None,
) -> dict[Hashable, float]:
    """Each segment's score from rows of one error each: minus the weights, averaged over raters.

    A segment may be a tuple of system and item. A segment without errors has a row 'no-error'; an
    unrated one has no row and no score.

    >>> span_scores(["s1", "s1", "s2"], ["major", "minor", "no-error"])
    {'s1': -6.0, 's2': 0.0}
    """
    scores = rater_span_scores(segments, severities, categories, raters)
    return {segment: sum(of.values()) / len(of) for segment, of in scores.items()}


def rater_span_scores(
    segments: Sequence[Hashable],
    severities: Sequence[str],
    categories: Sequence[str | None] | None = None,
    raters: Sequence[Hashable] | None = None,
) -> dict[Hashable, dict[Hashable, float]]:
    """Each segment's scores by rater, from rows of one error each: minus the errors' weights.

    Raises:
        InputError: the columns differ in length, or a severity is unknown; the message says where.
    """
    kinds = [""] * len(segments) if categories is None else categories
    who = [None] * len(segments) if raters is None else raters
    if not len(segments) == len(severities) == len(kinds) == len(who):
        raise InputError("segments, severities, categories and raters need one entry per error")
    sums: dict[Hashable, dict[Hashable, float]] = {}
    rows = zip(segments, severities, kinds, who, strict=True)
    for at, (segment, severity, kind, rater) in enumerate(rows):
        of_raters = sums.setdefault(segment, {})
        of_raters[rater] = of_raters.get(rater, 0.0) - _weight(f"row {at}", severity, kind)
    return sums


def are_spans(values: Iterable[Any]) -> bool:
    """Whether a column has lists of errors: dicts with a severity."""
    return any(isinstance(error, Mapping) for value in values for error in _errors(value))


def span_ratings(dimension: str, values: Sequence[Any]) -> list[list[float] | None]:
    """The ratings of each sample, one per rater, from the errors that the raters marked.

    A sample has a list of errors, each a dict with "severity" and optionally "category", or a list
    of such lists, one per rater. An empty list is a text without errors; None is an unrated text.

    >>> span_ratings("mqm", [[{"severity": "major"}, {"severity": "minor"}], [], None])
    [[-6.0], [0.0], None]

    Raises:
        InputError: an entry isn't an error; the message says where.
    """
    ratings: list[list[float] | None] = []
    for at, value in enumerate(values):
        if value is None or (isinstance(value, float) and isnan(value)):
            ratings.append(None)
            continue
        listed = isinstance(value, (list, tuple))
        several = listed and bool(value) and all(isinstance(item, (list, tuple)) for item in value)
        raters = value if several else [value]
        ratings.append([_of_rater(f"sample {at}: {dimension}", errors) for errors in raters])
    return ratings


def _of_rater(where: str, errors: Any) -> float:
    if not isinstance(errors, (list, tuple)) or not all(isinstance(e, Mapping) for e in errors):
        raise InputError(
            f"{where} is {what(errors)}; errors are a list of dicts with a severity, and a text "
            "without any has an empty list"
        )
    weights = (_weight(where, error.get("severity"), error.get("category")) for error in errors)
    return -sum(weights, 0.0) or 0.0


def _weight(where: str, severity: Any, category: Any) -> float:
    if not isinstance(severity, str):
        raise InputError(f"{where} has an error with the severity {what(severity)}, not a word")
    try:
        return error_weight(severity, category if isinstance(category, str) else "")
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _errors(value: Any) -> Iterator[Any]:
    """The errors in a list of them, or in lists of several raters'."""
    for item in value if isinstance(value, (list, tuple)) else ():
        yield from item if isinstance(item, (list, tuple)) else (item,)
