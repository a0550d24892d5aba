"""Where samples lie: ratings among systems and items, preferences between two systems' outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import InputError

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
ITEMS = ("doc_id", "item", "id")
SYSTEMS = ("system",)
"""The columns that name items and systems, unless others are given."""


@dataclass(frozen=True)
class RatingMatrix:
    """N samples as cells of S systems and I items; several samples of a cell are an error.

    Without systems, the outputs of an item are numbered in their order, and systems can't be
    compared (`named_systems` is false).
    """

    systems: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    row: Codes
    column: Codes
    named_systems: bool

    @classmethod
    def of(
        cls, size: int, item: Iterable[Any] | None = None, system: Iterable[Any] | None = None
    ) -> RatingMatrix:
        """The matrix of this many samples, by the item and the system of each.

        Raises:
            InputError: other lengths, a sample without a label, or the same cell twice.
        """
        item_of: Sequence[Hashable] = range(size)
        system_of: Sequence[Hashable] = [0] * size
        if item is not None:
            item_of = _labels("item", item, size)
            system_of = _occurrences(item_of)
        if system is not None:
            system_of = _labels("system", system, size)
        if item is None and system is not None:
            # The k-th output of every system is taken to be of the k-th item.
            item_of = _occurrences(system_of)
            if len({system_of.count(label) for label in set(system_of)}) > 1:
                raise InputError(
                    "the systems have different numbers of outputs, so their order doesn't say "
                    "which are of one item: give the item of each sample"
                )
        (systems, row), (items, column) = codes(system_of), codes(item_of)
        cells, first, counts = np.unique(
            row * max(len(items), 1) + column, return_index=True, return_counts=True
        )
        if len(cells) < size:
            at = int(first[counts > 1][0])
            raise InputError(
                f"system {system_of[at]!r} has {int(counts[counts > 1][0])} samples of item "
                f"{item_of[at]!r}; there has to be one"
            )
        return cls(systems, items, row, column, system is not None)

    @property
    def has_groups(self) -> bool:
        """Whether any item has several outputs."""
        return bool(len(self.systems) > 1 and len(self.row) > len(self.items))

    @property
    def has_systems(self) -> bool:
        """Whether there are systems to resample."""
        return self.named_systems and len(self.systems) > 1

    def arranged(self, values: Array) -> Array:
        """Values of the samples (N,) as (S, I), `nan` where a system has no sample of an item."""
        cells = np.full((len(self.systems), len(self.items)), np.nan)
        cells[self.row, self.column] = values
        return cells

    def labels(self) -> list[tuple[Hashable, ...]]:
        """The system and the item of each sample."""
        cells = zip(self.row, self.column, strict=True)
        return [(self.systems[row], self.items[column]) for row, column in cells]

    def check(self, level: str) -> None:
        """Raise `InputError` if the samples can't be read at a level."""
        if level in ("system", "within_system") and not self.named_systems:
            raise InputError(f"level {level!r} needs the system of each sample: give system=")
        if level in ("item", "system") and len(self.systems) < 2:
            why = "one system" if self.named_systems else "one output of each item"
            raise InputError(
                f"there is {why}, and level {level!r} compares systems; use level 'pooled'"
            )


@dataclass(frozen=True)
class OutputPairs:
    """P pairs of outputs: the code of each one's item, and of the two systems that are compared.

    Without systems, none are resampled (`has_systems` is false).
    """

    systems: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    first: Codes
    second: Codes
    item: Codes
    has_systems: bool

    @classmethod
    def of(
        cls, item: Sequence[Hashable], systems: tuple[Sequence[Hashable], Sequence[Hashable]] | None
    ) -> OutputPairs:
        """The pairs, by the item of each and by the systems of the first and the second output."""
        size = len(item)
        first, second = systems or (["a"] * size, ["b"] * size)
        names, of_system = codes([*first, *second])
        items, of_item = codes(item)
        return cls(names, items, of_system[:size], of_system[size:], of_item, systems is not None)

    @property
    def named_systems(self) -> bool:
        """Whether the systems are known."""
        return self.has_systems

    def arranged(self, values: Array) -> Array:
        """The values (P,) as they are."""
        return values

    def sums_by_item(self, outcomes: Array) -> Array:
        """The sums of values (P, n) over the pairs of each item (I, n)."""
        sums = np.zeros((len(self.items), outcomes.shape[1]))
        np.add.at(sums, self.item, outcomes)
        return sums

    def labels(self) -> list[tuple[Hashable, ...]]:
        """The item and the two systems of each pair."""
        places = zip(self.item, self.first, self.second, strict=True)
        return [(self.items[i], self.systems[a], self.systems[b]) for i, a, b in places]


def codes(labels: Sequence[Hashable]) -> tuple[tuple[Hashable, ...], Codes]:
    """The distinct labels in their order, and the position of each label among them."""
    places = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    return tuple(places), np.array([places[label] for label in labels], np.int64)


def _labels(name: str, values: Iterable[Any], size: int) -> list[Hashable]:
    labels = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(labels) != size:
        raise InputError(f"there are {len(labels)} labels of the {name} for {size} samples")
    for at, label in enumerate(labels):
        missing = label is None or (isinstance(label, float) and isnan(label))
        if missing or not isinstance(label, Hashable):
            raise InputError(f"sample {at} has no {name}: {label!r}")
    return labels


def _occurrences(labels: Sequence[Hashable]) -> list[Hashable]:
    """How often each label occurred before."""
    counts: dict[Hashable, int] = {}
    before: list[Hashable] = []
    for label in labels:
        before.append(counts.get(label, 0))
        counts[label] = counts.get(label, 0) + 1
    return before
