"""Label sums: metrics whose samples have several labels, whose counts add up label by label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from metric_cards._bases.label_rates import LabelCounts, averaged_over, table_of
from metric_cards._bases.resampling import Sparse
from metrichub.authoring import Array, CorpusMetric, Resampler, Scores, Unscored

DENSE = 2_000_000
"""Up to so many labels times rows, counts are dense matrices, which are faster."""
Row = Mapping[str, Any]
"""By "labels" how often each was right, predicted and expected; "sums" of what else adds up."""


@dataclass(frozen=True, kw_only=True)
class LabelSums(CorpusMetric):
    """A metric that makes a `Row` of a pair, and whose scores come from the sums of rows."""

    takes_nothing: ClassVar[bool] = True
    gathers: ClassVar[Literal["rows", "vocabulary"]] = "vocabulary"
    counted: ClassVar[str] = "label"
    """What the counts are of, the head of the table's first column."""

    def listed(self) -> Iterable[str]:
        """Labels that count whether or not a sample has them."""
        return ()

    def row(self, prediction: str | None, reference: str) -> Row | Unscored:
        """The counts of a prediction, None for nothing extracted, against one reference."""
        raise NotImplementedError  # a metric has its own

    def observe(self, prediction: str | None, references: Sequence[str]) -> Row | Unscored:
        """The row of the reference that fits best, and the first of equally good ones."""
        rows = [self.row(prediction, reference) for reference in references]
        scored = [row for row in rows if not isinstance(row, Unscored)]
        if len(scored) < 2:
            return (scored or rows)[0]
        scale, values = self.card.scale("score"), self.samples(scored)["score"]
        lower = scale is not None and scale.better == "lower"
        return scored[int(np.argmin(values) if lower else np.argmax(values))]

    def score_sums(self, names: Sequence[str], counts: LabelCounts, sums: Array) -> Scores:
        """The scores, (b,), of the counts of the named labels, (b, K), and of the sums, (b, S)."""
        raise NotImplementedError  # a metric has its own

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The scores of all rows together."""
        scores = self.resampler(rows)(np.ones((1, len(rows))))
        return {name: float(values[0]) for name, values in scores.items()}

    def resampler(self, rows: Sequence[Row]) -> Resampler:
        """The sums of each resample, where most labels are in few rows."""
        names, counts = _sparse(rows, self.listed())
        sums = np.array([row["sums"] for row in rows], np.float64)

        def scores(drawn: Sequence[Array]) -> Scores:
            return self.score_sums(names, LabelCounts(*drawn[:3]), drawn[3])

        if len(names) * len(rows) > DENSE:
            return lambda weights: scores(
                [*(each.times(weights) for each in counts), weights @ sums]
            )
        table, cuts = np.hstack([*map(_dense, counts), sums]), len(names) * np.arange(1, 4)
        return lambda weights: scores(np.split(weights @ table, cuts, axis=1))

    def averaged(self, rows: Sequence[Row]) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The labels that macro averages are over."""
        names = sorted({*self.listed(), *(name for row in rows for name in row["labels"])})
        predicted: dict[str, list[int]] = {name: [] for name in names}
        expected: dict[str, list[int]] = {name: [] for name in names}
        for place, row in enumerate(rows):
            for name, counts in row["labels"].items():
                for of, count in zip((predicted, expected), counts[1:], strict=True):
                    if count:
                        of[name].append(place)
        parts, outputs = averaged_over(expected, predicted), self.outputs()
        return {output: part for output, part in parts.items() if output in outputs}

    def condense(self, rows: Sequence[Row]) -> Sequence[Row]:
        """One row with the sums of all."""
        if len(rows) < 2:
            return rows
        labels: dict[str, list[float]] = {}
        for row in rows:
            for name, counts in row["labels"].items():
                count = labels.setdefault(name, [0, 0, 0])
                count[:] = map(sum, zip(count, counts, strict=True))
        sums = list(map(sum, zip(*(row["sums"] for row in rows), strict=True)))
        return [{"labels": labels, "sums": sums}]

    def tables(self, rows: Sequence[Row]) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """The rates of each label."""
        names, counts = _sparse(rows, self.listed())
        ones = np.ones((1, len(rows)))
        totals = LabelCounts(*(each.times(ones)[0] for each in counts))
        return {f"{self.counted}s": table_of(self.counted, names, totals)} if names else {}


def row_of(
    predicted: Mapping[str, int],
    expected: Mapping[str, int],
    sums: Sequence[float],
    right: Mapping[str, float] | None = None,
) -> Row:
    """The row of a sample that has these labels, so often each; right is what both have."""
    labels = {}
    for name in sorted({*predicted, *expected}):
        both = predicted.get(name, 0), expected.get(name, 0)
        labels[name] = [min(both) if right is None else right.get(name, 0), *both]
    return {"labels": labels, "sums": list(sums)}


def _dense(counts: Sparse) -> Array:
    """The counts of each row, (R, K)."""
    dense = np.zeros(counts.shape[::-1])
    dense[counts.column, counts.row] = counts.value
    return dense


def _sparse(rows: Sequence[Row], listed: Iterable[str]) -> tuple[list[str], list[Sparse]]:
    """The labels in order, and three matrices of their counts in each row, (K, R)."""
    names = sorted({*listed, *(name for row in rows for name in row["labels"])})
    places = {name: place for place, name in enumerate(names)}
    entries = [
        (places[name], number, *counts)
        for number, row in enumerate(rows)
        for name, counts in row["labels"].items()
    ]
    array = np.array(entries, np.float64).reshape(len(entries), 5)
    label, sample = array[:, 0].astype(np.int64), array[:, 1].astype(np.int64)
    shape = (len(names), len(rows))
    return names, [Sparse(label, sample, array[:, kind], shape) for kind in (2, 3, 4)]
