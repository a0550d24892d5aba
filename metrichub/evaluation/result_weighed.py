"""What a corpus metric measured in two passes: sums, of rows that all samples together weighed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from metrichub.errors import MetricError, ReportError
from metrichub.evaluation.observation import failing
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import Stats
from metrichub.metric import Array, takes_count

_FIXED = "intervals and tests use the weights from all samples, and don't resample them"


@dataclass(frozen=True)
class WeighedResult(SumResult):
    """Sums of rows that were weighed by the corpus. Parts of one corpus merge until it is `whole`.

    Parts of two corpora have other weights, and their sums mean nothing together.
    """

    whole: bool = False

    @classmethod
    def of_rows(cls, observed: RowsResult, corpus: Any) -> WeighedResult:
        """The result of these rows in a corpus, by what the surveys of all its rows gave.

        A sample's statistics are the sums over its rows.
        """
        of, size = observed.sample, observed.size
        scored = np.zeros(size, np.bool_)
        scored[of] = True
        arrays: dict[str, Array] = {}
        for name, values in _weighed(observed, corpus).items():
            arrays[name] = np.zeros((size, *values.shape[1:]), values.dtype)
            np.add.at(arrays[name], of, values)
        reasons = {sample: unscored.reason for sample, unscored in observed.left_out.items()}
        kinds = {s: u.undefined_for for s, u in observed.left_out.items() if u.undefined_for}
        rows = Stats(arrays, scored, reasons, kinds)
        count = rows.count
        head = (count, size - count, rows.why(), Counter(kinds.values()))
        return cls(observed.metric, observed.signature, *head, rows, rows.totals())

    def pool(self) -> Self:
        """The sums without the rows, which merge with no others."""
        return replace(self, rows=None, bucket_sums=None, whole=True)

    def concluded(self) -> Self:
        """The same, of a corpus to which no part is to come."""
        return replace(self, whole=True)

    def notes(self) -> Sequence[str]:
        """What the metric says, and what resamples leave as it is."""
        return [*super().notes(), *([_FIXED] if self.count and self.bucket_sums else [])]

    @classmethod
    def merge(cls, parts: Sequence[Result], signature: Signature) -> WeighedResult:
        """The result of all parts' samples.

        Raises:
            ReportError: parts that were weighed by corpora of their own.
        """
        weighed = [part for part in parts if isinstance(part, WeighedResult) and not part.whole]
        if len(weighed) < len(parts):
            raise ReportError(
                f"{parts[0].metric.name}: reports without samples can't be merged, as the weights "
                "depend on all samples; evaluate all samples in one call, or with samples=True"
            )
        merged = super().merge(weighed, signature)
        assert isinstance(merged, WeighedResult)
        return merged


def _weighed(observed: RowsResult, corpus: Any) -> Mapping[str, Array]:
    metric, number = observed.corpus_metric, len(observed.rows)
    if not number:
        return {}
    with failing(metric):
        weighed = metric.weigh(observed.rows, corpus)
    expected = metric.statistics()
    if expected is not None and set(weighed) != set(expected):
        raise MetricError(
            f"{metric.name}: weigh returned {', '.join(sorted(weighed)) or 'nothing'}, but score "
            f"asks for {', '.join(expected)}"
        )
    rows = Stats.of(weighed, number)
    if not rows.scored.all():
        raise MetricError(f"{metric.name}: weigh returned nan; leave rows without a score out")
    count = {"count": np.ones(number, np.int64)} if takes_count(metric) else {}
    return {**rows.arrays, **count}
