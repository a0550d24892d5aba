"""Observation: the rows that a metric measures of a view, how far it is, and its sums' scores."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.foreign_code import is_foreign
from metrichub.data.answer_columns import answered
from metrichub.data.batch import Block, View
from metrichub.errors import (
    CellError,
    MetricError,
    ScoringError,
    what,
)
from metrichub.evaluation.explanation import error_line
from metrichub.evaluation.reuse import ROWS, measured_once
from metrichub.evaluation.stats import NOTED, Stats, scored_by
from metrichub.metric import (
    Array,
    CorpusMetric,
    FunctionMetric,
    Measured,
    Metric,
    Row,
    Unscored,
    has_sample_scores,
    measuring,
    takes_count,
)

Progress = Callable[[int], object]
"""Called with how many samples times metrics were done since the last call."""


@dataclass
class Portion:
    """The progress of one metric in a block: its samples, and how many of them were reported."""

    samples: int
    progress: Progress
    reported: int = 0
    error: Exception | None = None

    def reach(self, share: float) -> None:
        """Tell the samples that were done since the last time; a smaller share tells none."""
        done = int(self.samples * min(1.0, share))
        if done <= self.reported or self.error:
            return
        try:
            self.progress(done - self.reported)
        # It isn't a failure of the metric, inside of which it happens.
        except Exception as error:  # noqa: BLE001  # of a function of the user's
            self.error = error
        self.reported = done


_portion: ContextVar[Portion | None] = ContextVar("portion", default=None)


@contextmanager
def watched_progress(samples: int, progress: Progress | None) -> Iterator[None]:
    """Have `report_progress` tell `progress` of these samples within, and all of them at the end.

    Raises at its end what the watching function raised.
    """
    portion = Portion(samples if progress else 0, progress or (lambda _: None))
    token = _portion.set(portion)
    try:
        yield
    finally:
        _portion.reset(token)
    portion.reach(1.0)
    if portion.error:
        raise portion.error


def report_progress(share: float) -> None:
    """Report which share of the texts that `measure` was called with is done, from 0 to 1.

    For metrics that take long for a block, such as those that run a model; other metrics' progress
    is counted block by block. Without a progress display it does nothing.
    """
    if portion := _portion.get():
        portion.reach(share)


@contextmanager
def scoring_errors(metric: Metric, sample: int | None = None) -> Iterator[None]:
    """Raise what the metric's code raises inside the block as a `ScoringError`.

    Errors of the library's own pass: they say what they are about.
    """
    try:
        yield
    except BaseException as error:
        if not is_foreign(error):
            raise
        raise ScoringError(metric.name, error_line(error), sample) from error


@contextmanager
def located_errors(metric: Metric | None, block: Block) -> Iterator[None]:
    """Raise a failure inside the block with its sample's number in the batch, where it is one.

    The sample of a metric that measures whole columns is looked for.
    """
    try:
        yield
    except CellError as error:
        raise error.at(error.sample + block.start) from error.__cause__
    except ScoringError as error:
        sample = error.sample
        columns = metric is not None and measuring(type(metric)) == "measure"
        if metric and columns and sample is None and error.__cause__:
            sample = _first_alone(metric, block, type(error.__cause__))
        raise error.at(None if sample is None else sample + block.start) from error.__cause__


def _first_alone(metric: Metric, block: Block, kind: type[BaseException]) -> int | None:
    """The first sample that raises such an exception when it is measured alone."""
    for sample in range(len(block)):
        columns = {name: column.part(sample, sample + 1) for name, column in block.columns.items()}
        answers = {name: column.part(sample, sample + 1) for name, column in block.answers.items()}
        view = view_of(Block(columns, 0, 1, answers), metric)
        try:
            metric.measure(**view.arguments)  # type: ignore[attr-defined]  # the author's
        # Whatever was raised over all samples is looked for.
        except BaseException as error:
            if type(error) is kind:
                return sample
            if not isinstance(error, Exception):
                raise
    return None


def view_of(block: Block, metric: Metric) -> View:
    """The block as the metric's arguments."""
    return answers_view(block, metric)[0] if metric.extraction else block.view(metric.inputs())


def answers_view(block: Block, metric: Metric) -> tuple[View, NDArray[np.bool_] | None]:
    """The view with answers as predictions, and the rows without one, (R,).

    The latter are None for a metric that scores them itself.
    """
    inputs, extract = metric.inputs(), metric.extraction or ""
    view = answered(block, extract, with_nothing=True).view(inputs)
    if metric.takes_nothing:
        return view, None
    answers = view.arguments["prediction"]
    nothing = np.fromiter((answer is None for answer in answers), np.bool_, len(answers))
    return answered(block, extract, with_nothing=False).view(inputs), nothing


def is_async(metric: Metric) -> bool:
    """Whether the metric's `observe` has to be awaited."""
    return inspect.iscoroutinefunction(getattr(type(metric), "observe", None))


def measure_rows(metric: Metric, view: View, observed: Sequence[Any] | None = None) -> Stats:
    """The statistics that a metric measures, one row for each of the view's.

    `observed` holds what `observe` gave, where it was awaited before.
    """
    method = measuring(type(metric))
    if method == "observe":
        measured = _observe_all(metric, _observed(metric, view) if observed is None else observed)
    else:
        measured = _measure_all(metric, view)
    statistics, reasons, undefined_for = measured
    expected = metric.statistics()
    if isinstance(metric, FunctionMetric):
        metric.check_range(np.ravel(statistics.get("score", ())))
    if expected is None and "count" in statistics:
        raise MetricError(
            f"{metric.name} returned 'count', a name reserved for the number of samples; choose "
            "another"
        )
    if expected is not None and set(scored_by(statistics)) != set(expected):
        raise MetricError(
            f"{metric.name}: {method} returned {', '.join(sorted(statistics)) or 'nothing'}, "
            f"but score asks for {', '.join(expected)}"
        )
    for kind in set(undefined_for.values()):
        if metric.card.path and kind not in metric.card.undefined_for:
            raise MetricError(
                f"{metric.name}: a prediction has no score ({kind}), and the card doesn't declare "
                f"that; add undefined_for: [{kind}] to its front matter"
            )
    return Stats.of(statistics, view.rows, reasons, undefined_for)


def measure_objects(
    metric: CorpusMetric, view: View, observed: Sequence[Any] | None = None
) -> Sequence[Any]:
    """The objects that a corpus metric observes, one a row; None or Unscored without one."""
    if observed is not None:
        return observed
    if measuring(type(metric)) == "observe":
        return list(_observed(metric, view))
    objects: Sequence[Any] = _measured(metric, view)
    if len(objects) != view.rows:
        raise MetricError(f"{metric.name}: measure returned {len(objects)} rows for {view.rows}")
    return objects


def scores_of(
    metric: Metric, arrays: Mapping[str, Array], count: NDArray[np.float64], method: str = "score"
) -> dict[str, NDArray[np.float64]]:
    """A metric's outputs for statistics with any leading axes; `nan` where `count` is 0.

    Each statistic is (..., *shape) and `count` (...): the number of scored samples in each sum.
    """
    if not count.any():
        return {name: np.full(count.shape, np.nan) for name in metric.outputs()}
    # What was weighed row by row brings the number of its rows along.
    arrays = scored_by(arrays)
    statistics = {"count": count, **arrays} if takes_count(metric, method) else arrays
    with np.errstate(all="ignore"), scoring_errors(metric):
        outputs = getattr(metric, method)(**statistics)
    if not isinstance(outputs, Mapping):
        raise MetricError(f"{metric.name}: {method} returned {what(outputs)}, not scores by name")
    if "score" not in outputs and metric.statistics() is None:
        raise MetricError(f"{metric.name} returned {', '.join(outputs)}; call one of them 'score'")
    # Without a card, what is returned says what the outputs are.
    if {*metric.outputs()} - {*outputs} or (metric.card.path and {*outputs} - {*metric.outputs()}):
        raise MetricError(
            f"{metric.name}: {method} returned {', '.join(outputs)}, but its outputs are "
            f"{', '.join(metric.outputs())}"
        )
    empty = count == 0
    return {
        name: np.where(empty, np.nan, np.asarray(values, np.float64))
        for name, values in outputs.items()
    }


def sample_scores(metric: Metric, rows: Stats) -> dict[str, NDArray[np.float64]]:
    """A metric's outputs for every sample, (N,), by its `score_samples` if it writes one."""
    method = "score_samples" if has_sample_scores(metric) else "score"
    return scores_of(metric, rows.arrays, rows.scored.astype(np.float64), method)


def _measured(metric: Metric, view: View) -> Any:
    measure = partial(metric.measure, **view.arguments)  # type: ignore[attr-defined]  # the author's
    with scoring_errors(metric):
        if view.rows < ROWS or type(metric).reuse_key is Metric.reuse_key:
            return measure()
        return measured_once(metric, view, measure)


def _measure_all(metric: Metric, view: View) -> Measured:
    result = _measured(metric, view)
    measured = result if isinstance(result, Measured) else Measured(result, {})
    if not isinstance(measured.statistics, Mapping):
        raise MetricError(f"{metric.name}: measure returned {what(result)}, not arrays by name")
    return measured


def _observe_all(metric: Metric, raw_rows: Iterable[Any]) -> Measured:
    observed = [_row(metric, row) for row in raw_rows]
    unscored = {i: row for i, row in enumerate(observed) if isinstance(row, Unscored)}
    reasons = {i: row.reason for i, row in unscored.items()}
    undefined_for = {i: row.undefined_for for i, row in unscored.items() if row.undefined_for}
    rows = [None if isinstance(row, Unscored) else row for row in observed]
    first = next((row for row in rows if row is not None), None)
    noted = [name for name in first or () if name.startswith(NOTED)]
    keys = dict.fromkeys((*(metric.statistics() or first or ("score",)), *noted))
    statistics = {key: _statistic(metric, key, rows, first) for key in keys}
    return Measured(statistics, reasons, undefined_for)


def _row(metric: Metric, row: object) -> Row | Unscored | None:
    # A dict first: whether an object is a Mapping takes eight times as long to say.
    if row is None or isinstance(row, (dict, Unscored, Mapping)):
        return row
    if isinstance(row, (int, float, np.number, np.bool_)):
        return {"score": float(row)}
    raise MetricError(f"{metric.name} returned {what(row)}, not a number or a mapping of numbers")


def _statistic(metric: Metric, key: str, rows: Sequence[Row | None], first: Row | None) -> Array:
    try:
        blank = np.full(np.shape(first[key]) if first else (), np.nan)
        return np.array([blank if row is None else row[key] for row in rows])
    except KeyError:
        raise MetricError(f"{metric.name} returned no {key!r} for some sample") from None
    except ValueError:
        raise MetricError(
            f"{metric.name}: the statistic {key!r} doesn't have the same shape for all samples"
        ) from None


def _observed(metric: Metric, view: View) -> Iterator[Any]:
    observe = metric.observe  # type: ignore[attr-defined]  # the author's
    names = list(view.arguments)
    row = 0
    try:
        for row, values in enumerate(zip(*view.arguments.values(), strict=True)):  # noqa: B007  # in errors
            yield observe(**dict(zip(names, values, strict=True)))
    except BaseException as error:
        CellError.check(error, _sample_of(view, row))
        if not is_foreign(error):
            raise
        raise ScoringError(metric.name, error_line(error), _sample_of(view, row)) from error


def _sample_of(view: View, row: int) -> int:
    return row if view.sample is None else int(view.sample[row])
