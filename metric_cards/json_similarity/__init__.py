"""JSON similarity: how close a JSON value is to the expected one, as ANLS* compares trees."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from metric_cards._bases.anls import similarity
from metric_cards._bases.json_replies import read_reply, reply_text, unread_note
from metric_cards._bases.pairing import best_pairs
from metrichub.authoring import OMIT_DEFAULT, Array, Metric, Range, Row, Unscored

_FEW_PAIRS = 64
"""Lists that make no more pairs are compared item by item at once."""
FLOOD = 20
"""A prediction with over so many times as many nodes as the reference, and 1,000, has 0."""


@dataclass(frozen=True, kw_only=True)
class JsonSimilarity(Metric):
    """ANLS* (Peer et al. 2024): the mean similarity of the values of two trees, macro.

    Attributes:
        threshold: The similarity of two texts below which it counts as 0.
        max_pairs: The most pairs of items that are compared in the lists of a sample; one with more
            is unanswered. None compares any.
    """

    takes_nothing: ClassVar[bool] = True

    threshold: Annotated[float, Range(0, 1)] = 0.5
    max_pairs: Annotated[int | None, Range(1)] = field(default=1_000_000, metadata=OMIT_DEFAULT)

    text_of_objects = staticmethod(reply_text)
    whole_objects = True

    def observe(self, prediction: str | None, reference: str) -> Row | Unscored:
        """The similarity of one sample, and whether its prediction is JSON."""
        expected, problem = read_reply(reference)
        if problem:
            return Unscored(f"the reference isn't JSON ({problem})")
        predicted, broken = read_reply(prediction)
        flood = _nodes(predicted) > FLOOD * _nodes(expected) + 1000
        if broken or flood:
            return {"score": 0.0, "parsed": broken is None}
        try:
            similar = _Comparison(self.threshold, self.max_pairs).of(predicted, expected).mean
        except _TooManyPairs:
            why = f"lists make over {self.max_pairs:,} pairs of items; max_pairs=None compares them"
            return Unscored(why, "too_long")
        return {"score": similar, "parsed": True}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """Whether nothing could be read."""
        return unread_note(float(totals["parsed"]))


class _TooManyPairs(Exception):
    """A sample has more pairs of items than are compared."""


@dataclass
class _Comparison:
    """The comparison of two trees, with the number of pairs of items so far."""

    threshold: float
    max_pairs: int | None
    pairs: int = 0

    def of(self, predicted: Any, expected: Any) -> Similarity:
        """The similarity of two trees, or of two parts of them.

        Raises:
            _TooManyPairs: their lists have more pairs of items than may be compared.
        """
        if isinstance(expected, dict) and isinstance(predicted, dict):
            return self._objects(predicted, expected)
        if isinstance(expected, list) and isinstance(predicted, list):
            return self._lists(predicted, expected)
        size = max(_size(predicted), _size(expected))
        if expected is None:
            return Similarity(float(_is_nothing(predicted)), size or 1)
        nested = isinstance(expected, (dict, list)) or isinstance(predicted, (dict, list))
        if nested or predicted is None:
            return Similarity(0.0, size)
        return Similarity(similarity(_text(predicted), _text(expected), self.threshold), size)

    def _objects(self, predicted: dict[str, Any], expected: dict[str, Any]) -> Similarity:
        """By keys; one that is missing holds null, and one too many earns nothing."""
        total, size = 0.0, 0
        for key in expected | predicted:
            member = self.of(predicted.get(key), expected.get(key))
            total += member.total if key in expected or not _is_nothing(predicted[key]) else 0
            size += member.size
        return Similarity(total, size)

    def _lists(self, predicted: list[Any], expected: list[Any]) -> Similarity:
        """By the best pairing of their items; of equally good ones, that of more equal items."""
        fewer, more = sorted((expected, predicted), key=len)
        # Where one list holds all of the other, no pairing is better than that of equal items.
        if len(fewer) * len(more) > _FEW_PAIRS and _holds(more, fewer):
            return Similarity(float(sum(map(_size, fewer))), sum(map(_size, more)))
        self.pairs += len(fewer) * len(more)
        if self.pairs > (self.max_pairs or math.inf):
            raise _TooManyPairs
        grid = [[self.of(item, other) for item in predicted] for other in expected]
        means = np.array(
            [
                [
                    math.nextafter(cell.mean, math.inf) if item == other else cell.mean
                    for cell, item in zip(row, predicted, strict=True)
                ]
                for row, other in zip(grid, expected, strict=True)
            ]
        ).reshape(len(expected), len(predicted))
        pairs = best_pairs(means)
        paired = [grid[row][column] for row, column in pairs]
        alone = [expected[i] for i in {*range(len(expected))} - {row for row, _ in pairs}]
        alone += [predicted[i] for i in {*range(len(predicted))} - {column for _, column in pairs}]
        return Similarity(
            sum(pair.total for pair in paired),
            sum(pair.size for pair in paired) + sum(map(_size, alone)),
        )


class Similarity(NamedTuple):
    """The summed similarity of two trees' values, and how many values there are."""

    total: float
    size: int

    @property
    def mean(self) -> float:
        """The mean; 1 where neither tree has a value."""
        return self.total / self.size if self.size else 1.0


def _holds(more: list[Any], fewer: list[Any]) -> bool:
    """Whether one list has every item of the other, as often as that has it."""
    written = (
        Counter(json.dumps(item, sort_keys=True) for item in items) for items in (fewer, more)
    )
    return next(written) <= next(written)


def _size(tree: Any) -> int:
    """How many values a tree has; null is one, and an empty list or object has none."""
    if isinstance(tree, dict):
        return sum(map(_size, tree.values()))
    return sum(map(_size, tree)) if isinstance(tree, list) else 1


def _nodes(tree: Any) -> int:
    """How many values, lists and objects a tree has, with itself."""
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return 1 + sum(map(_nodes, items))


def _is_nothing(value: Any) -> bool:
    return value is None or value in ({}, [], "")


@lru_cache(maxsize=4096)
def _normalized(text: str) -> str:
    return " ".join(text.lower().split())


def _text(value: object) -> str:
    text = str(value)
    # Long texts would stay in memory.
    return _normalized(text) if len(text) < 1000 else _normalized.__wrapped__(text)
