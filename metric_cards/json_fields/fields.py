"""Fields: the values of a JSON value by their paths, and how many of two lists are alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from metric_cards._bases.anls import similarity
from metric_cards._bases.json_replies import json_text
from metric_cards._bases.label_texts import normal
from metric_cards._bases.pairing import best_pairs
from metric_cards._bases.value_keys import folded, value_key

THRESHOLD = 0.5
"""The similarity of two texts below which it counts as 0, as in ANLS."""
LONGEST = 1000
"""The length up to which a path is written out."""
_PLAIN = re.compile(r'[^.\[\]"]+')


def fields_of(value: Any, by_index: bool, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values with their paths: "items[].price", or "items[0].price" by index.

    Null holds no value, and neither does an empty object, list or text.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            key = normal(key)
            name = key if _PLAIN.fullmatch(key) else json_text(key)
            yield from fields_of(item, by_index, _bounded(f"{path}.{name}" if path else name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            inner = _bounded(f"{path}[{place if by_index else ''}]")
            yield from fields_of(item, by_index, inner)
    elif value is not None and value != "":
        yield path or "(value)", value


def _bounded(path: str) -> str:
    """The path; a very long one by its start and a hash, as many values may lie below it."""
    if len(path) <= LONGEST:
        return path
    digest = blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{path[: LONGEST // 2]}…{digest}"


def by_path(fields: Iterator[tuple[str, Any]]) -> Mapping[str, Sequence[Any]]:
    """The values under each path."""
    values: dict[str, list[Any]] = {}
    for path, value in fields:
        values.setdefault(path, []).append(value)
    return values


def alike(predicted: Sequence[Any], expected: Sequence[Any], comparator: str) -> float:
    """How many values are equal, each once; with `similar`, the sum of the best similarities."""
    if not predicted or not expected:
        return 0.0
    if comparator != "similar":
        sides = predicted, expected
        keys, due = (Counter(value_key(value, comparator) for value in side) for side in sides)
        return float((keys & due).total())
    # Of a flood of values, as many as could matter.
    texts = [folded(str(value)) for value in predicted[: 10 * len(expected) + 1000]]
    texts_ = [folded(str(value)) for value in expected]
    grid = [[similarity(text, other, THRESHOLD) for text in texts] for other in texts_]
    scores = np.array(grid)
    return float(sum(scores[pair] for pair in best_pairs(scores)))
