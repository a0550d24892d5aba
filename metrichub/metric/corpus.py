"""CorpusMetric: a metric whose corpus score isn't the score of summed statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from metrichub.errors import MetricError
from metrichub.metric.base import Array, Metric, Scores

Gathers = Literal["rows", "vocabulary", "sums"]
"""The data that a corpus metric needs in one place; see `CorpusMetric.gathers`."""
MAX_GATHERED = 1_000_000
"""Of how many samples the rows are gathered from several machines at most."""
Resampler = Callable[[Array], Scores]
"""From how often each of b resamples has each of R rows, (b, R), to their scores, (b,) each."""


@dataclass(frozen=True, kw_only=True)
class CorpusMetric(Metric):
    """A metric that doesn't add up: `conclude` computes the scores from the rows of all samples.

    `observe` or `measure` returns a picklable object per row; None or `Unscored` leaves it out.

    Write `conclude`. `resampler` saves time and `condense` memory; both give the same numbers.
    """

    resamples: ClassVar[bool] = True
    """Whether a sample drawn twice is like two samples; if not, the bootstrap says nothing."""
    testable: ClassVar[bool] = True
    """Whether `conclude` is fast enough for the thousands of trials of a paired test."""
    averaging = "corpus"
    gathers: ClassVar[Gathers] = "rows"
    """What has to come together for the corpus score, where samples lie on several machines.

    rows: those of all samples, of 1,000,000 at most. vocabulary: what `condense` leaves of them,
    which grows with the different words or n-grams. sums: likewise, and it doesn't grow.
    """

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """The scores of these rows together; without rows, `nan`."""
        raise MetricError(f"{type(self).__name__} has no `conclude`")

    def resampler(self, rows: Sequence[Any]) -> Resampler | None:
        """A function that scores many resamples at once, or None to call `conclude` for each.

        It returns what `conclude` returns, up to rounding, if each row occurs as often as in the
        resample. Compute here, once, whatever doesn't depend on the resample; the function is
        called with blocks of resamples, so memory doesn't grow with their number.
        """
        return None

    def condense(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Fewer rows with the same scores by `conclude`; by default the rows themselves.

        The rows may include condensed ones, because parts that were measured separately are
        condensed again when they merge. The order of the parts may differ from that of the samples.
        """
        return rows

    def averaged(self, rows: Sequence[Any]) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The parts that an output is the mean over, as phrases, with the places of their rows.

        {"macro_f1": {"the label 'x'": [0, 2], "the label 'y'": [1]}}. Such a mean is as uncertain
        as its rarest parts, and its interval counts these.
        """
        return {}

    def unscored(self, rows: Sequence[Any]) -> Mapping[int, str]:
        """Why rows have no score among these, by their place; `samples` gives them `nan`.

        Other rows may still depend on them, unlike those that `measure` leaves out.
        """
        return {}

    def tables(self, rows: Sequence[Any]) -> Mapping[str, Sequence[Sequence[str | float | None]]]:
        """Tables that explain the corpus scores, such as a confusion matrix, by their headings.

        The first row of each is its head. Reports show them as they are.
        """
        return {}

    def cells_of_rows(self, rows: Sequence[Any]) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The cell of a table that counts each row, as the heads of its row and its column.

        By the headings of `tables`. A report's page shows the samples of a cell that is clicked.
        """
        return {}

    def notes_of_rows(self, rows: Sequence[Any]) -> Sequence[str]:
        """Notes for the reader of the corpus score, from all rows, of which some may be condensed.

        They follow `notes`, which has no sums here.
        """
        return ()

    def samples(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        """The scores of each row: by default those of a corpus with only this row."""
        each = [self.conclude([row]) for row in rows]
        return {name: [scores[name] for scores in each] for name in self.outputs()}
