"""Texts: the samples that a report was made from, kept beside its numbers to be read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.batch import Batch
from metrichub.data.values import json_value
from metrichub.evaluation.observation import scoring_errors, view_of
from metrichub.metric import Metric, TraceItem

Sample = Mapping[str, Any]
"""A sample's columns: one item, or the list of them where there are several or none."""


@dataclass(frozen=True, repr=False)
class StoredSamples:
    """The batches that a report was made from, in order."""

    batches: tuple[Batch, ...]

    @property
    def size(self) -> int:
        """The number of samples."""
        return self._starts[-1]

    def __getitem__(self, sample: int) -> Sample:
        """The columns of one sample."""
        batch, place = self._place(sample)
        return {
            name: c.items[place]
            if c.offsets is None
            else list(c.items[c.offsets[place] : c.offsets[place + 1]])
            for name, c in batch.columns.items()
        }

    def __len__(self) -> int:
        """The number of samples."""
        return self.size

    def __iter__(self) -> Iterator[Sample]:
        """The columns of every sample, in order."""
        for batch in self.batches:
            columns = [
                c.items
                if c.offsets is None
                else [list(c.items[start:end]) for start, end in pairwise(c.offsets.tolist())]
                for c in batch.columns.values()
            ]
            for values in zip(*columns, strict=True):
                yield dict(zip(batch.columns, values, strict=True))

    def __repr__(self) -> str:
        """The size and the names of the columns."""
        return f"<Texts of {self.size} samples: {', '.join(self.names)}>"

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return [*dict.fromkeys(name for batch in self.batches for name in batch.columns)]

    def take(self, index: NDArray[np.int64]) -> StoredSamples:
        """The samples at `index`, which is in ascending order."""
        batches = []
        for start, batch in zip(self._starts, self.batches, strict=False):
            inside = index[(index >= start) & (index < start + batch.size)] - start
            columns, answers = (
                {name: column.take(inside) for name, column in columns_of_batch.items()}
                for columns_of_batch in (batch.columns, batch.answers)
            )
            batches.append(Batch(columns, len(inside), answers=answers))
        return StoredSamples(tuple(batches))

    def steps(self, metric: Metric, sample: int) -> Sequence[TraceItem]:
        """The explanation of each candidate of a sample, if the metric has any."""
        explain = getattr(metric, "explain", None)
        if explain is None:
            return ()
        batch, place = self._place(sample)
        (block,) = batch.part(place, place + 1).blocks(1 << 62)
        view = view_of(block, metric)
        names = list(view.arguments)
        rows = zip(*view.arguments.values(), strict=True)
        with scoring_errors(metric, sample):
            return [json_value(explain(**dict(zip(names, row, strict=True)))) for row in rows]

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The first sample of every batch, and the number of all."""
        return [0, *accumulate(batch.size for batch in self.batches)]

    def _place(self, sample: int) -> tuple[Batch, int]:
        """The batch of a sample, and its place there."""
        if not 0 <= sample < self.size:
            raise IndexError(sample)
        number = bisect_right(self._starts, sample) - 1
        return self.batches[number], sample - self._starts[number]
