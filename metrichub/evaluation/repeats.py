"""Repeats: several runs of the same judge on the same samples, as one report."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.data.batch import Batch
from metrichub.errors import ReportError
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measure import Measure
from metrichub.evaluation.measurement import Measurement, with_facts
from metrichub.evaluation.resample import Record
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.stats import Stats, by_row
from metrichub.metric import Array, Metric, TraceItem
from metrichub.models.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedScore(Record):
    """The runs of one output: their mean, standard deviation, lowest and highest score.

    `runs` are the corpus scores, `std` their sample standard deviation; `samples` (N,) holds the
    standard deviation of each sample, `nan` where fewer than two runs scored it.
    """

    mean: float
    std: float
    low: float
    high: float
    runs: tuple[float, ...]
    samples: NDArray[np.float64]


def measured_again(
    run: Callable[[Measure, Sequence[Batch]], Measurement],
    measure: Measure,
    batches: Sequence[Batch],
    judged: tuple[Metric, ...],
    repeats: int,
) -> Measurement:
    """The measurement of several runs, of which those after the first have the judged metrics.

    A sample's statistics are the mean of the runs that scored it. It is an error only if it failed
    in all of them.
    """
    again = [replace(measure, metrics=judged, repeat=number) for number in range(1, repeats)]
    measured = [run(each, batches) for each in (measure, *again)]
    first = measured[0]
    runs = {metric.name: tuple(each.results[metric.name] for each in measured) for metric in judged}
    traces = {name: _joined([each.traces.get(name, Trace()) for each in measured]) for name in runs}
    means = {name: _mean(results) for name, results in runs.items()}
    usage = sum((each.usage for each in measured), Usage())
    return with_facts(
        replace(
            first,
            results={**first.results, **means},
            traces={**first.traces, **traces},
            runs=runs,
        ),
        usage=usage,
    )


def repeated_scores(runs: Mapping[str, Sequence[Result]]) -> dict[str, dict[str, RepeatedScore]]:
    """Metric -> output -> `RepeatedScore`.

    Raises:
        ReportError: there are no runs.
    """
    if not runs:
        raise ReportError("the report has no repeated runs; evaluate with repeats=3")
    return {name: _repeated(results) for name, results in runs.items()}


def _repeated(runs: Sequence[Result]) -> dict[str, RepeatedScore]:
    corpus = [run.scores() for run in runs]
    samples = [{} if run.pooled else run.samples() for run in runs]
    repeated = {}
    for output in corpus[0]:
        scores = np.array([scores[output] for scores in corpus])
        of_samples = [outputs[output] for outputs in samples if output in outputs]
        numbers = scores[~np.isnan(scores)] if not np.isnan(scores).all() else np.array([np.nan])
        repeated[output] = RepeatedScore(
            mean=float(numbers.mean()),
            std=float(_deviation(scores[:, None])[0]),
            low=float(numbers.min()),
            high=float(numbers.max()),
            runs=tuple(scores.tolist()),
            samples=_deviation(np.array(of_samples)) if of_samples else np.zeros(0),
        )
    return repeated


def variance_components(scores: Array, questions: Sequence[Any]) -> tuple[float, ...]:
    """The variance of scores between questions and within them, the runs of each, and their number.

    One-way random effects (Searle, Casella and McCulloch 1992, 3.6; Miller 2024, 3.1): unequal
    numbers of runs count as K0. `nan` where no question has several runs, or only one has any.
    """
    finite = np.isfinite(scores)
    scores, names = scores[finite], np.asarray(questions, str)[finite]
    of, runs = np.unique(names, return_inverse=True, return_counts=True)[1:]
    size, free = len(of), np.float64(len(runs) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.bincount(of, scores) / runs
        within = ((scores - means[of]) ** 2).sum() / (size - len(runs))
        usual = (size - runs @ runs / size) / free
        between = (runs @ (means - scores.sum() / size) ** 2 / free - within) / usual
    return max(0.0, float(between)), float(within), float(usual), len(runs)


def variance_in_words(result: Result, questions: Sequence[Any]) -> list[str]:
    """A sentence on the variance between questions, and on the gain of more runs.

    There is none if the score isn't a mean, if runs are few, or if no scores differ.
    """
    scores = result.samples()["score"]
    between, within, runs, number = variance_components(scores, questions)
    is_mean = abs(np.nansum(scores) - result.count * result.scores()["score"]) < 1e-6
    if not (is_mean and between + within > 0 and runs > 1.5):
        return []
    share = f"{between / (between + within):.0%} of the variance is between questions"
    share = share if between else "runs differ as much as questions"
    single, now, more = (((between + within / k) / number) ** 0.5 for k in (1, runs, 4 * runs))
    reached = f"{runs:.0f} runs bring the standard error from {single:.2g} to {now:.2g}"
    return [f"{share}. {reached}, {4 * runs:.0f} would bring {more:.2g}"]


def _deviation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sample standard deviation over the first axis, without `nan`."""
    with warnings.catch_warnings():
        # It has none of fewer than two.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanstd(values, axis=0, ddof=1))


def _mean(runs: Sequence[Result]) -> Result:
    """The result with the mean statistics of the runs; the first where rows aren't numbers."""
    signature = replace(runs[0].signature, repeats=len(runs))
    rows = [run.statistics for run in runs if run.statistics is not None]
    if len(rows) < len(runs):
        return replace(runs[0], signature=signature)
    count = np.sum([stats.scored for stats in rows], axis=0)
    scoring = [stats for stats in rows if stats.scored.any()]
    arrays: dict[str, Array] = {}
    for name, array in (scoring or rows)[0].arrays.items():
        total = np.zeros(array.shape, np.float64)
        for stats in scoring:
            total += np.where(by_row(stats.scored, array), stats.arrays[name], 0.0)
        arrays[name] = total / by_row(np.maximum(count, 1), array)
    reasons = {row: why for row, why in rows[0].reasons.items() if not count[row]}
    kinds = {row: kind for row, kind in rows[0].undefined_for.items() if not count[row]}
    return SumResult.of(runs[0].metric, signature, Stats(arrays, count > 0, reasons, kinds))


def _joined(runs: Sequence[Trace]) -> Trace:
    """The steps of all runs, each with the number of its run, and the errors that all runs had.

    A sample that no run scored is pending if one of them waits for it.
    """
    steps: dict[int, list[TraceItem]] = {}
    calls: dict[int, list[str]] = {}
    for number, run in enumerate(runs, 1):
        for sample, items in run.steps.items():
            steps.setdefault(sample, []).extend({"run": number, **step} for step in items)
        for sample, keys in run.calls.items():
            calls.setdefault(sample, []).extend(keys)
    lost = set.intersection(*({*run.errors, *run.pending} for run in runs))
    pending = {s: why for run in runs for s, why in run.pending.items() if s in lost}
    errors = {s: cause for s, cause in runs[0].errors.items() if s in lost - pending.keys()}
    votes = sum((run.votes for run in runs), Counter[str]())
    cuts = sum((run.cuts for run in runs), Counter[str]())
    return replace(Trace.of(steps, errors, calls, pending), votes=votes, cuts=cuts)
