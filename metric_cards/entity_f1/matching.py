"""Matching: how many predicted spans are right, by one of nervaluate's four schemes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from metric_cards.entity_f1.reading import Span

Scheme = Literal["strict", "exact", "partial", "ent_type"]
OVERLAP = 0.01
"""How much of a reference a prediction shares at least to overlap it, as in nervaluate."""


class Matches(NamedTuple):
    """Numbers of spans: of each kind of match, references without one, and predictions without."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0


def matches_of(predicted: Sequence[Span], expected: Sequence[Span], scheme: Scheme) -> Matches:
    """Each prediction takes one reference at most: its equal, else in order one that it overlaps.

    In the scheme of types that is the closest one of its label, before any other.
    """
    labels = scheme in ("strict", "ent_type")
    free, left = list(expected), []
    correct = overlapping = spurious = 0
    for span in predicted:
        equal = (e for e in free if e[1:] == span[1:] and (e[0] == span[0] or not labels))
        if (match := next(equal, None)) is None:
            left.append(span)
        else:
            free.remove(match)
            correct += 1
    for span in left:
        near = [other for other in free if _overlap(span, other)]
        alike = [other for other in near if other.label == span.label and scheme == "ent_type"]
        if near:
            closest = min(alike, key=partial(_apart, span)) if alike else near[0]
            free.remove(closest)
        correct += bool(alike)
        overlapping += bool(near) - bool(alike)
        spurious += not near
    half = overlapping if scheme == "partial" else 0
    return Matches(correct, overlapping - half, half, len(free), spurious)


def _overlap(predicted: Span, expected: Span) -> bool:
    shared = min(predicted.end, expected.end) - max(predicted.start, expected.start) + 1
    return shared > 0 and shared / (expected.end - expected.start + 1) >= OVERLAP


def _apart(first: Span, second: Span) -> int:
    return abs(first.start - second.start) + abs(first.end - second.end)
