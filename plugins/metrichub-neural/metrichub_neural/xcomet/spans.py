"""Errors in a translation: spans of tokens that a model labels by severity, and their MQM score.

Guerreiro et al. (2024), section 3; where a span ends and what severity it has are as in
unbabel-comet 2.2.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from metrichub.authoring import Array

SEVERITIES = ("minor", "major", "critical")
"""The labels behind the first, which says that there is no error."""
_PENALTIES = (1, 5, 10)
_WORST = 25


class ErrorSpan(NamedTuple):
    """A part of a translation that is wrong.

    Attributes:
        text: The part; empty where only the token before the translation is labelled.
        severity: That of its first token.
        start: Where it starts in the translation, in characters.
        end: Where it ends.
        confidence: How probable the label of each token is, in the mean.
    """

    text: str
    severity: str
    start: int
    end: int
    confidence: float


def probabilities(logits: Sequence[Array], weights: Sequence[float]) -> Array:
    """The weighted probabilities of labels, (n, labels), of several logits of that shape."""
    powers = [np.exp(each - each.max(1, keepdims=True)) for each in map(np.float64, logits)]
    return np.asarray(
        sum(
            weight * each / each.sum(1, keepdims=True)
            for weight, each in zip(weights, powers, strict=True)
        )
    )


def errors_in(text: str, labels: Array, places: Sequence[tuple[int, int]]) -> list[ErrorSpan]:
    """The errors in a text, of whose tokens each has probabilities of labels and a place."""
    label, confidence = labels.argmax(1), labels.max(1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], label > 0])))
    # One that is still open behind the last token has no second edge, and is dropped.
    return [
        ErrorSpan(
            text[places[first][0] : places[last - 1][1]],
            SEVERITIES[label[first] - 1],
            places[first][0],
            places[last - 1][1],
            float(confidence[first:last].mean()),
        )
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=False)
    ]


def counts(errors: Sequence[ErrorSpan]) -> list[int]:
    """How many errors there are of each severity."""
    return [sum(error.severity == severity for error in errors) for severity in SEVERITIES]


def quality(counts: Array) -> Array:
    """The MQM score in 0..1 of texts with so many errors of each severity, (N, 3)."""
    return np.asarray(1 - np.minimum(_WORST, counts @ np.array(_PENALTIES)) / _WORST)


def highlighted(text: str, errors: Sequence[ErrorSpan]) -> list[Mapping[str, Any]]:
    """The text in segments, of which those of errors have their severity as kind."""
    places = chain.from_iterable((error.start, error.end) for error in errors)
    # Several tokens may be of one character, such as those of an ellipsis.
    edges = [*accumulate([0, *places, len(text)], max)]
    kinds = chain.from_iterable(("outside", error.severity) for error in errors)
    return [
        {"text": text[start:end], "kind": kind, "length": 0}
        for (start, end), kind in zip(pairwise(edges), [*kinds, "outside"], strict=True)
        if start < end
    ]
