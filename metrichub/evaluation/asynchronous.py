"""Observing together: all rows of a block and all asynchronous metrics of a hub at once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from metrichub.catalog.foreign_code import is_foreign
from metrichub.data.batch import View
from metrichub.data.values import json_value
from metrichub.errors import CellError, JudgeError, ScoringError
from metrichub.evaluation.explanation import (
    CUT,
    Failed,
    Observed,
    Trace,
    error_line,
)
from metrichub.metric import Metric, TraceItem, WithTrace
from metrichub.models.batch_files import BatchRun
from metrichub.models.embedders import EmbeddingColumn
from metrichub.models.failures import AnswerPending
from metrichub.models.loop import run
from metrichub.models.resolve import rows_at_once
from metrichub.models.usage import (
    Budget,
    Usage,
    UsageTracker,
    cuts_of_row,
    record_keys,
    track_usage,
)


class _Done(NamedTuple):
    """The observation of a row, the keys of its requests, and the cuts that judges made."""

    row: Any
    keys: list[str]
    cuts: list[str]


def observe(
    views: Mapping[str, tuple[Metric, View]],
    budget: Budget | None = None,
    progress: Callable[[int], object] | None = None,
    *,
    repeat: int = 0,
    estimating: bool = False,
    batch: BatchRun | None = None,
) -> Observed:
    """The observations of asynchronous metrics in their views of one block.

    `progress` is called with 1 whenever a metric is done with a sample. Another `repeat` asks
    for other answers; while `estimating` none is asked for, and only the usage means anything.
    Answers of a `batch` that aren't there yet leave their samples pending.

    A row whose call fails is unscored, and so is every row of the same sample.

    Raises:
        JudgeUnavailable: a call failed in a way that every later call would.
        TooManyErrors: more samples failed than the run allows.
    """
    budget = budget or Budget()
    tracking = track_usage(repeat, estimating, budget, batch)
    return run(_observe(views, budget, progress or (lambda _: None), tracking, repeat))


async def _observe(
    views: Mapping[str, tuple[Metric, View]],
    budget: Budget,
    progress: Callable[[int], object],
    tracking: AbstractContextManager[UsageTracker],
    repeat: int,
) -> Observed:
    failed: set[int] = set()
    left = {name: Counter(_samples(view)) for name, (_, view) in views.items()}
    open_rows = sum(left.values(), Counter[int]())

    async def measured(metric: Metric, sample: int, row: Mapping[str, Any]) -> _Done:
        cuts: list[str] = []
        cuts_of_row.set(cuts)
        try:
            with record_keys() as keys, row_of[metric.name]():
                observed = await metric.observe(**row)  # type: ignore[attr-defined]  # the author's
            open_rows[sample] -= 1
            budget.scored[repeat] += not open_rows[sample]
            return _Done(observed, keys, cuts)
        except JudgeError as error:
            if error.ends_the_run:
                raise
            pending = isinstance(error, AnswerPending)
            if not pending and sample not in failed:
                failed.add(sample)
                try:
                    budget.fail(str(error))
                except JudgeError as last:
                    tracker.over = last
                    raise
            return _Done(Failed(str(error), pending), [], [])
        except BaseException as error:
            CellError.check(error, sample)
            if not is_foreign(error):
                raise
            raise ScoringError(metric.name, error_line(error), sample) from error
        finally:
            left[metric.name][sample] -= 1
            if not left[metric.name][sample]:
                progress(1)

    start = time.perf_counter()
    with tracking as tracker:
        try:
            async with asyncio.TaskGroup() as group:
                row_of = {
                    name: EmbeddingColumn(view.rows, group).row
                    if hasattr(metric, "embedder")
                    else nullcontext
                    for name, (metric, view) in views.items()
                }
                done = {
                    name: _start(group, view, partial(measured, metric), rows_at_once(metric))
                    for name, (metric, view) in views.items()
                }
        except BaseExceptionGroup as errors:
            first = _first(errors)
            raise _with_progress(first, budget.progress(repeat)) from first.__cause__
    parts = {name: _rows_and_trace(done[name], view) for name, (_, view) in views.items()}
    return Observed(
        {name: rows for name, (rows, _) in parts.items()},
        {name: traces for name, (_, traces) in parts.items()},
        tracker.usage if tracker.estimating else _timed(tracker.usage, start),
    )


def _start(
    group: asyncio.TaskGroup,
    view: View,
    measure: Callable[[int, Mapping[str, Any]], Awaitable[_Done]],
    at_once: int | None,
) -> list[Any]:
    """The list that the group will fill with what is measured of each row, so many at once."""
    done: list[Any] = [None] * view.rows
    rows = enumerate(_rows(view))

    async def measure_next() -> None:
        for place, (sample, row) in rows:
            done[place] = await measure(sample, row)

    for _ in range(min(view.rows, at_once or view.rows)):
        group.create_task(measure_next())
    return done


def _timed(usage: Usage, start: float) -> Usage:
    """The usage with how long models were waited for; nothing where none was asked."""
    return replace(usage, seconds=time.perf_counter() - start) if usage.calls else usage


def _rows(view: View) -> Iterator[tuple[int, dict[str, Any]]]:
    names, samples = list(view.arguments), _samples(view)
    columns = zip(*view.arguments.values(), strict=True)
    for sample, values in zip(samples, columns, strict=True):
        yield sample, dict(zip(names, values, strict=True))


def _samples(view: View) -> list[int]:
    return list(range(view.rows)) if view.sample is None else view.sample.tolist()


def _rows_and_trace(observed: Sequence[_Done], view: View) -> tuple[list[Any], Trace]:
    """The rows without their steps; those of a sample with a failed call are all unscored."""
    steps: dict[int, list[TraceItem]] = {}
    errors: dict[int, str] = {}
    pending: dict[int, str] = {}
    calls: dict[int, list[str]] = {}
    for sample, (row, keys, cuts) in zip(_samples(view), observed, strict=True):
        if keys:
            calls.setdefault(sample, []).extend(keys)
        if isinstance(row, WithTrace):
            step = {**row.step, CUT: cuts} if cuts else row.step
            steps.setdefault(sample, []).append(json_value(step))
        elif isinstance(row, Failed):
            (pending if row.pending else errors).setdefault(sample, row.cause)
    # Another call of the sample may fail for good, but not all is known of it yet.
    errors = {sample: cause for sample, cause in errors.items() if sample not in pending}
    lost = errors.keys() | pending
    rows = [
        None if sample in lost else row.row if isinstance(row, WithTrace) else row
        for sample, (row, *_) in zip(_samples(view), observed, strict=True)
    ]
    return rows, Trace.of(steps, errors, calls, pending)


def _with_progress(error: BaseException, progress: str) -> BaseException:
    """The error that ended a run, a judge's with how far the run came."""
    # Another one, as the same error may end several runs.
    return type(error)(f"{error}{progress}") if isinstance(error, JudgeError) else error


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
