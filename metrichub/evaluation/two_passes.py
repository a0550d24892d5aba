"""Two passes: the first sums what the corpus has to be known for, the second weighs each row by it.

In one process the rows wait for the second pass in a temporary file, so that samples that come but
once are enough, and memory grows with the surveys alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from tempfile import TemporaryFile
from typing import Any, Self

from metrichub.errors import MetricError, what
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.observation import scoring_errors
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult, WeighedResult
from metrichub.metric import CorpusMetric, Metric, has_two_passes


class Survey:
    """What the surveys of a metric's parts sum to.

    Sums of as many parts are added first, so that each part is added few times over.
    """

    def __init__(self, metric: CorpusMetric) -> None:
        self.metric, self._levels = metric, list[tuple[int, Any]]()

    def add(self, survey: Any, parts: int = 1) -> None:
        """Add what a survey gave, of one part or of several."""
        self._levels.append((parts, survey))
        while len(self._levels) > 1 and self._levels[-2][0] <= self._levels[-1][0]:
            self._join()

    def total(self) -> Any:
        """The sum of all; of none, the survey of no rows.

        Raises:
            MetricError: surveys don't add up.
        """
        while len(self._levels) > 1:
            self._join()
        return self._levels[0][1] if self._levels else self.of(())

    def of(self, rows: Sequence[Any]) -> Any:
        """What the metric's survey gives of some rows."""
        with scoring_errors(self.metric):
            return self.metric.survey(rows)

    def _join(self) -> None:
        (first_parts, first), (second_parts, second) = self._levels[-2:]
        with scoring_errors(self.metric):
            try:
                total = first + second
            except TypeError as error:
                raise MetricError(
                    f"{self.metric.name}: survey returned {what(first)}, which + can't add up; "
                    "return a Counter, an array, or an object with __add__"
                ) from error
        self._levels[-2:] = [(first_parts + second_parts, total)]


def two_passes(metrics: Iterable[Metric]) -> list[CorpusMetric]:
    """Those of the metrics that are measured in two passes where samples aren't kept."""
    return [m for m in metrics if isinstance(m, CorpusMetric) and has_two_passes(m)]


class PostponedRows:
    """Rows that wait in a temporary file for the second pass, while the first goes on."""

    def __init__(self, metrics: Iterable[CorpusMetric]) -> None:
        self._surveys = {metric.name: Survey(metric) for metric in metrics}
        self._heads: dict[str, RowsResult] = {}

    def __enter__(self) -> Self:
        """Open the file."""
        self._file = TemporaryFile()  # closed on exit
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which deletes it."""
        self._file.close()

    def first(self, measurements: Iterable[Measurement]) -> Iterator[Measurement]:
        """The same measurements without the results that wait."""
        for measurement in measurements:
            others = dict(measurement.results)
            for name, survey in self._surveys.items():
                result = corpus_rows(others.pop(name))
                survey.add(survey.of(result.rows))
                # A metric that a script defines has no pickle.
                self._heads.setdefault(name, replace(result, rows=(), sample=result.sample[:0]))
                parts = result.rows, result.sample, result.size, result.left_out, result.place
                pickle.dump((name, parts), self._file, pickle.HIGHEST_PROTOCOL)
            yield replace(measurement, results=others)

    def second(self, by_position: bool) -> dict[str, SumResult]:
        """The sums of all samples and of every bucket, weighed by what the first pass saw."""
        corpora = {name: survey.total() for name, survey in self._surveys.items()}
        sums: dict[str, SumResult] = {}
        self._file.seek(0)
        for name, (rows, sample, size, left_out, place) in self._read():
            head = replace(
                self._heads[name], rows=rows, sample=sample, size=size, left_out=left_out
            )
            part = WeighedResult.of_rows(head, corpora[name]).without_rows(place, by_position)
            sums[name] = part.merge([sums[name], part], part.signature) if name in sums else part
        return sums

    def _read(self) -> Iterator[Any]:
        while True:
            try:
                yield pickle.load(self._file)
            except EOFError:
                return


def corpus_rows(result: Result) -> RowsResult:
    """A corpus metric's result, as a first pass has it."""
    assert isinstance(result, RowsResult)
    return result
