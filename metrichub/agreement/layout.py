"""Layout: where each sample lies among systems and items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import InputError

Array = NDArray[np.float64]
ITEMS = ("doc_id", "item", "id")
SYSTEMS = ("system",)
"""The columns that name items and systems, unless others are given."""


@dataclass(frozen=True)
class Layout:
    """N samples as cells of S systems and I items; several samples of a cell are an error.

    Without systems, the outputs of an item are numbered in their order, and systems can't be
    compared (`named_systems` is false).
    """

    systems: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    named_systems: bool

    @classmethod
    def of(
        cls, size: int, item: Iterable[Any] | None = None, system: Iterable[Any] | None = None
    ) -> Layout:
        """The layout of so many samples, by the item and the system of each.

        Raises:
            InputError: other lengths, a sample without a label, or the same cell twice.
        """
        item = None if item is None else _labels("item", item, size)
        system = None if system is None else _labels("system", system, size)
        if item is None and system is not None:
            # The k-th output of every system is taken to be of the k-th item.
            item = _occurrences(system)
            if len({system.count(label) for label in set(system)}) > 1:
                raise InputError(
                    "the systems have different numbers of outputs, so their order doesn't say "
                    "which are of one item: give the item of each sample"
                )
            return cls._of(item, system, True)
        if item is not None and system is None:
            return cls._of(item, _occurrences(item), False)
        if item is None or system is None:
            return cls._of(range(size), [0] * size, False)
        return cls._of(item, system, True)

    @classmethod
    def _of(
        cls, item: Sequence[Hashable], system: Sequence[Hashable], named_systems: bool
    ) -> Layout:
        items, systems = dict.fromkeys(item), dict.fromkeys(system)
        places = {label: i for i, label in enumerate(items)}, {s: i for i, s in enumerate(systems)}
        column = np.array([places[0][label] for label in item], np.int64)
        row = np.array([places[1][label] for label in system], np.int64)
        cells, first, counts = np.unique(
            row * max(len(items), 1) + column, return_index=True, return_counts=True
        )
        if len(cells) < len(row):
            at = int(first[counts > 1][0])
            raise InputError(
                f"system {system[at]!r} has {int(counts[counts > 1][0])} samples of item "
                f"{item[at]!r}; there has to be one"
            )
        return cls(tuple(systems), tuple(items), row, column, named_systems)

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(self.row)

    @property
    def has_groups(self) -> bool:
        """Whether any item has several outputs."""
        return bool(len(self.systems) > 1 and self.size > len(self.items))

    def matrix(self, values: Array) -> Array:
        """Values of the samples (N,) as (S, I), `nan` where a system has no sample of an item."""
        cells = np.full((len(self.systems), len(self.items)), np.nan)
        cells[self.row, self.column] = values
        return cells

    def check(self, level: str) -> None:
        """Raise `InputError` if the samples can't be read at a level."""
        if level in ("system", "within_system") and not self.named_systems:
            raise InputError(f"level {level!r} needs the system of each sample: give system=")
        if level in ("item", "system") and len(self.systems) < 2:
            why = "one system" if self.named_systems else "one output of each item"
            raise InputError(
                f"there is {why}, and level {level!r} compares systems; use level 'pooled'"
            )


def _labels(name: str, values: Iterable[Any], size: int) -> list[Hashable]:
    labels = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(labels) != size:
        raise InputError(f"there are {len(labels)} labels of the {name} for {size} samples")
    for at, label in enumerate(labels):
        if label is None or _is_nan(label) or not isinstance(label, Hashable):
            raise InputError(f"sample {at} has no {name}: {label!r}")
    return labels


def _is_nan(label: object) -> bool:
    return isinstance(label, float) and isnan(label)


def _occurrences(labels: Sequence[Hashable]) -> list[int]:
    """How often each label came before."""
    seen: dict[Hashable, int] = {}
    counts = []
    for label in labels:
        counts.append(seen.get(label, 0))
        seen[label] = counts[-1] + 1
    return counts
