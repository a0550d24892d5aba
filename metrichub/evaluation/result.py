"""The result of one metric on all samples: rows that add up, or objects that don't.

Both kinds answer the same questions (scores, samples, resampled scores, merge, pool), so that a
report needs no knowledge of the metrics in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.frontmatter import Scale
from metrichub.errors import ReportError
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.script_coverage import DROPS
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import BucketSums, Stats
from metrichub.metric import Metric

Outputs = dict[str, NDArray[np.float64]]
Swap = Callable[[NDArray[np.bool_], NDArray[np.float64]], tuple[Outputs, Outputs]]
"""From tosses (b, N), True where each system keeps its unit, and their product with columns."""


class Resampler(ABC):
    """The scores of a result's units, drawn or swapped.

    `columns` (N, K) are multiplied with the draws (b, N), for several results at once.
    """

    columns: NDArray[np.float64]

    @abstractmethod
    def drawn(self, weights: NDArray[np.float64], product: NDArray[np.float64]) -> Outputs:
        """The scores (b,) where units were drawn so often, from this and its product."""

    @abstractmethod
    def against(self, other: Any) -> Swap:
        """Both systems' scores (b,), from tosses and their product with the columns' difference."""


_Head = tuple[Metric, Signature, int, int, Counter[str], Counter[str]]
NO_REASON = "the metric returned no score"
NOTHING_COUNTED = "the texts contain nothing to count, as when they are shorter than an n-gram"
NO_SAMPLES = "there are no samples; a stream or an iterator can be read only once"


@dataclass(frozen=True)
class Result(ABC):
    """The result of one metric. `count` and `unscored` are numbers of samples.

    `unanswered` counts those of the unscored whose prediction the definition gives no value, by
    the card's word for it.
    """

    adds_up: ClassVar[bool] = False
    """Whether resampled scores come from sums, which takes a moment."""

    metric: Metric
    signature: Signature
    count: int
    unscored: int
    reasons: Counter[str]
    unanswered: Counter[str]

    @property
    def scale(self) -> Callable[[str], Scale | None]:
        """From an output to what its numbers mean."""
        return self.metric.card.scale

    @property
    def mostly_unread(self) -> bool:
        """Whether over half of the samples are unscored for letters that are dropped.

        A mean of the others would stand for all.
        """
        lost = sum(number for why, number in self.reasons.items() if why.startswith(DROPS))
        return 2 * lost > self.count + self.unscored

    @property
    @abstractmethod
    def undefined_for(self) -> Mapping[int, str]:
        """The card's word for why each of the unanswered has no value; nothing once pooled."""

    def status(self, sample: int) -> Literal["unanswered", "unscored"]:
        """The status of a sample without a score, where no call failed or waits."""
        return "unanswered" if sample in self.undefined_for else "unscored"

    @property
    @abstractmethod
    def pooled(self) -> bool:
        """Whether the rows were given up: no samples, intervals or tests."""

    @abstractmethod
    def scores(self) -> dict[str, float]:
        """The corpus score of every output; `nan` if nothing was scored, or if `mostly_unread`."""

    @abstractmethod
    def samples(self) -> Outputs:
        """The score of every sample, (N,) an output; `nan` where unscored."""

    def added(self) -> Outputs:
        """Each sample's contribution to a score that adds up, (N,); `nan` where unscored.

        The mean of it is about the score, also where that is a ratio or another function of sums.
        """
        raise NotImplementedError  # of results that add up alone

    @abstractmethod
    def why(self, sample: int) -> str | None:
        """Why a sample is unscored; None if it is scored."""

    @abstractmethod
    def resampler(self, units: Units | None = None) -> Resampler:
        """The corpus scores where these units, or else samples, are drawn or swapped."""

    @abstractmethod
    def pool(self) -> Result:
        """The same corpus scores without the rows."""

    @classmethod
    @abstractmethod
    def merge(cls, parts: Sequence[Any], signature: Signature) -> Result:
        """The result of all parts' samples, in order."""

    @staticmethod
    def head_of(parts: Sequence[Result], signature: Signature) -> _Head:
        """The first fields of the result of all parts together."""
        return (
            parts[0].metric,
            signature,
            sum(part.count for part in parts),
            sum(part.unscored for part in parts),
            sum((part.reasons for part in parts), Counter()),
            sum((part.unanswered for part in parts), Counter()),
        )

    @abstractmethod
    def scored(self) -> NDArray[np.bool_]:
        """Which samples have a score, (N,).

        Raises:
            ReportError: it was pooled.
        """

    @abstractmethod
    def only(self, samples: NDArray[np.bool_]) -> Result:
        """The same where only the samples of the mask (N,) are scored."""

    @abstractmethod
    def take(self, index: NDArray[np.int64]) -> Result:
        """The result of the samples at `index`, in that order, each once at most.

        Raises:
            ReportError: it was pooled.
        """

    @property
    def buckets(self) -> BucketSums | None:
        """The sums of buckets of samples, which intervals and tests need where rows are gone."""
        return None

    @property
    def has_units(self) -> bool:
        """Whether rows or buckets are left, which can be drawn or swapped."""
        return not self.pooled or self.buckets is not None

    @property
    def statistics(self) -> Stats | None:
        """The statistics of every sample; None where there are none, or no longer."""
        return None

    @property
    def resamples(self) -> bool:
        """Whether scores of samples that were drawn with replacement estimate the score."""
        return True

    @property
    def testable(self) -> bool:
        """Whether the trials of a paired test take no longer than somebody waits."""
        return True

    def parts(self, units: Units) -> Mapping[str, Mapping[str, int]]:
        """The parts that outputs are means over, such as labels, and the units that each has."""
        return {}

    def without_rows(self, place: NDArray[np.int64], by_position: bool) -> Result:
        """The same with less to keep, where scores and merges need no rows.

        `place` is the bucket of every sample, (N,).
        """
        return self

    def condense(self) -> Result:
        """The same corpus scores, and merges with what was condensed too, from less than rows."""
        return self

    def tables(self) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """The tables that the metric shows beside its scores, by heading."""
        return {}

    def cells(self) -> Mapping[str, Sequence[tuple[str, str] | None]]:
        """By the headings of tables, the heads of the cell that counts each sample, (N,)."""
        return {}

    def notes(self) -> Sequence[str]:
        """Remarks that a reader of the corpus score has to know."""
        return ()

    def check_units(self) -> None:
        """Raise `ReportError` where neither rows nor buckets are left."""
        if not self.has_units:
            raise self._pooled_error("a paired test")

    def _pooled_error(self, what: str) -> ReportError:
        return ReportError(
            f"{self.metric.name}: this report was pooled, and {what} needs its samples; "
            "use the report from before pool(), or evaluate with samples=True"
        )
