"""CorpusMetric: a metric whose corpus score isn't the score of summed statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from metrichub.errors import MetricError
from metrichub.metric.base import Array, Metric, Scores, takes_count

Gathers = Literal["rows", "vocabulary", "sums"]
"""What a corpus metric needs in one place; see `CorpusMetric.gathers`."""
GATHERED = 1_000_000
"""Of how many samples the rows are gathered from several machines at most."""
Resampler = Callable[[Array], Scores]
"""From how often each of b resamples has each of R rows, (b, R), to their scores, (b,) each."""


@dataclass(frozen=True, kw_only=True)
class CorpusMetric(Metric):
    """A metric that doesn't add up: `conclude` makes the scores from the rows of all samples.

    `observe` or `measure` give any picklable object a row; None or `Unscored` leaves it out.
    """

    resamples: ClassVar[bool] = True
    """Whether a sample drawn twice is like two samples; if not, the bootstrap says nothing."""
    averaging = "corpus"
    gathers: ClassVar[Gathers] = "rows"
    """What has to come together for the corpus score, where samples lie on several machines.

    rows: those of all samples, of 1,000,000 at most. vocabulary: what `condense` or `survey` leaves
    of them, which grows with the different words or n-grams. sums: likewise, and it doesn't grow.
    """

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """The scores of these rows together; no rows give `nan`.

        A metric that writes `weigh` needs none of its own.
        """
        if not has_two_passes(self):
            raise MetricError(f"{type(self).__name__} has no `conclude`")
        found = {name: values.sum(axis=0) for name, values in self._weighed(rows).items()}
        return {name: float(value) for name, value in self.score(**found).items()}

    def resampler(self, rows: Sequence[Any]) -> Resampler | None:
        """What scores many resamples of these rows at once; None if `conclude` sees each instead.

        It gives what `conclude` gives for each row as often as a resample has it, up to rounding.
        Whatever doesn't depend on the resample is made here, once; what it is called with are
        blocks of resamples, so that memory doesn't grow with their number.
        """
        return None

    def condense(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Fewer rows from which `conclude` makes the same scores; by default the rows themselves.

        Rows that were condensed may be among them, as parts measured apart are condensed again
        where they are merged. The order of parts isn't that of samples.
        """
        return rows

    def survey(self, rows: Sequence[Any]) -> Any:
        """What has to be known of the corpus before a row can be weighed, such as word counts.

        A first pass over the samples calls it for the rows of each part, of which one may have
        none, and adds what it gives by `+`.
        """
        return 0

    def weigh(self, rows: Sequence[Any], corpus: Any) -> Mapping[str, Array]:
        """Statistics of each row, (R, ...), by what the `survey` of all rows gave.

        A second pass calls it; statistics add up over rows, and `score` makes the same scores of
        their sums as `conclude` of the rows. Then no place ever holds the rows of all samples.
        """
        raise MetricError(f"{type(self).__name__} has no `weigh`")

    def samples(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        """The scores of each row: by default those of the corpus that is this row alone.

        Where rows are weighed, they are so by the corpus of all.
        """
        if has_two_passes(self):
            return {
                name: list(values) for name, values in self.score(**self._weighed(rows)).items()
            }
        each = [self.conclude([row]) for row in rows]
        return {name: [scores[name] for scores in each] for name in self.outputs()}

    def _weighed(self, rows: Sequence[Any]) -> Mapping[str, Array]:
        import numpy as np

        count = {"count": np.ones(len(rows))} if takes_count(self) else {}
        return {**self.weigh(rows, self.survey(rows)), **count}


def has_two_passes(metric: Metric) -> bool:
    """Whether a corpus metric's rows add up once a first pass has seen all of them."""
    return isinstance(metric, CorpusMetric) and type(metric).weigh is not CorpusMetric.weigh
