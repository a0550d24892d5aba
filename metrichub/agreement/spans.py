"""MQM: scores of segments from the errors that raters marked, by the weights of WMT."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from metrichub.errors import InputError

MAJOR, MINOR, PUNCTUATION, NON_TRANSLATION = 5.0, 1.0, 0.1, 25.0


def error_weight(severity: str, category: str = "") -> float:
    """What an error costs: major 5, minor 1, minor punctuation .1, non-translation 25, none 0.

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
    """Each segment's score, of one row an error: minus its errors' weights, the mean of its raters.

    A segment may be a tuple of system and item. One without errors has a row 'no-error'; one that
    nobody rated has no row and no score.

    >>> span_scores(["s1", "s1", "s2"], ["major", "minor", "no-error"])
    {'s1': -6.0, 's2': 0.0}
    """
    kinds = [""] * len(segments) if categories is None else categories
    who = [None] * len(segments) if raters is None else raters
    if not len(segments) == len(severities) == len(kinds) == len(who):
        raise InputError("segments, severities, categories and raters need one entry an error")
    sums: dict[Hashable, dict[Hashable, float]] = {}
    for segment, severity, kind, rater in zip(segments, severities, kinds, who, strict=True):
        of_raters = sums.setdefault(segment, {})
        of_raters[rater] = of_raters.get(rater, 0.0) - error_weight(severity, kind or "")
    return {segment: sum(found.values()) / len(found) for segment, found in sums.items()}
