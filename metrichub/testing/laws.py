"""The sixteen laws that every metric keeps: functions that raise `Broken` with the reason."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metrichub import Report
from metrichub.data.batch import Block, Column
from metrichub.data.columns import CONVERSATIONS
from metrichub.errors import ReportError
from metrichub.evaluation.observation import (
    measure_objects,
    measure_rows,
    sample_scores,
    scores_of,
)
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.stats import Stats
from metrichub.metric import Array, CorpusMetric, Metric, has_sample_scores
from metrichub.testing.card_laws import (
    card_is_complete,
    examples_run,
    inputs_agree,
    one_name,
    outputs_agree,
)
from metrichub.testing.footprint import nothing_heavy_loads
from metrichub.testing.under_test import (
    HOSTILE,
    WORDS,
    Broken,
    MetricUnderTest,
    conversation_with,
    hold,
)

NONSENSE = ("", " \t\n ", "... !? -", "Не знаю, что сказать.", "你好，世界", "😀👍🏽", "zzz qqq")
"""Predictions that deserve nothing: empty, blank, without words, and in other scripts."""
SHORT = ("cat", "the cat", "你好，世界", "مرحبا بالعالم", "😀👍🏽")
"""Texts that a definition of perfection easily forgets: short ones, and those of other scripts."""


def rows_are_finite(under_test: MetricUnderTest) -> None:
    """Every ordinary sample gets a finite score, unless a metric gives none to any sample."""
    report = under_test.evaluate(under_test.columns)
    result = report.results[under_test.metric.name]
    size = len(next(iter(under_test.columns.values())))
    hold(result.unscored == 0, f"{result.unscored} of {size} ordinary samples are unscored")
    for name, values in result.samples().items():
        hold(values.shape == (size,), f"{name} has shape {values.shape} for {size} samples")
        none = isinstance(under_test.metric, CorpusMetric) and np.isnan(values).all()
        finite = bool(none or np.isfinite(values).all())
        hold(finite, f"{name} of ordinary samples is {values.tolist()}")
    for name, value in result.scores().items():
        hold(bool(np.isfinite(value)), f"the corpus {name} of ordinary samples is {value}")


def score_broadcasts(under_test: MetricUnderTest) -> None:
    """`score` gives the same for totals, for samples and for arrays of resamples.

    Their shapes are (), (N,) and (B, N). What goes with it agrees: `score_samples` gives (N,), a
    `resampler` what `conclude` gives, and so do condensed rows and those that were weighed in two
    passes; the scores of a metric whose averaging is macro are the means of its samples' scores.
    """
    result = under_test.evaluate(under_test.columns).results[under_test.metric.name]
    if isinstance(result, RowsResult) and isinstance(result.metric, CorpusMetric):
        _resamples_conclude_alike(result.metric, result.rows)
        _condensed_rows_conclude_alike(result.metric, result.rows)
    metric, rows = under_test.metric, result.statistics
    if rows is None:
        return
    if has_sample_scores(metric):
        _samples_score_alone(metric, rows)
    count = rows.scored.astype(np.float64)
    flat = scores_of(metric, rows.arrays, count)
    if metric.averaging == "macro":
        for name, total in result.scores().items():
            mean = np.nanmean(flat[name][rows.scored])
            hold(_same(mean, total), f"{name} is {total}, and its macro mean {mean}")
    twice: dict[str, Array] = {name: np.stack([a, a]) for name, a in rows.arrays.items()}
    deep = scores_of(metric, twice, np.stack([count, count]))
    for name, values in flat.items():
        hold(deep[name].shape == (2, *values.shape), f"{name} has the wrong shape over (B, N)")
        for block in deep[name]:
            hold(_same(block, values), f"{name} differs over (B, N)")
    for row in range(len(rows)):
        scores = scores_of(metric, {k: a[row] for k, a in rows.arrays.items()}, count[row])
        for name, value in scores.items():
            hold(value.shape == (), f"{name} of one sample has shape {value.shape}")
            hold(_same(value, flat[name][row]), f"{name} of one sample differs from its row")


def measuring_merges(under_test: MetricUnderTest) -> None:
    """Measuring samples in parts gives the same as measuring them together."""
    together = under_test.evaluate(under_test.columns)
    name = under_test.metric.name
    for cut in (1, 3, len(next(iter(under_test.columns.values()))) - 1):
        first = under_test.evaluate({k: v[:cut] for k, v in under_test.columns.items()})
        second = under_test.evaluate({k: v[cut:] for k, v in under_test.columns.items()})
        merged = first.merge(second)
        _same_reports(under_test, together, merged, f"split at {cut}")
        result, merged_result = together.results[name], merged.results[name]
        if isinstance(result, SumResult) and isinstance(merged_result, SumResult):
            for key, total in result.totals.items():
                again = merged_result.totals[key]
                hold(_close(under_test, total, again), f"the sum of {key} differs by the split")


def order_is_irrelevant(under_test: MetricUnderTest) -> None:
    """Reversing the samples changes no corpus score, and reverses the scores of samples."""
    forward = under_test.evaluate(under_test.columns)
    backward = under_test.evaluate({k: v[::-1] for k, v in under_test.columns.items()})
    name = under_test.metric.name
    for output, value in forward.results[name].scores().items():
        other = backward.results[name].scores()[output]
        hold(_close(under_test, value, other), f"{output} is {value}, and {other} in reverse order")
    for output, values in forward.results[name].samples().items():
        again = backward.results[name].samples()[output][::-1]
        hold(
            _close(under_test, values, again),
            f"{output} of a sample depends on the order of the samples",
        )


def any_text_is_valid(under_test: MetricUnderTest) -> None:
    """Any text gets scores in their range or `nan`, alone and in a corpus, and no error."""
    pool = [*HOSTILE, WORDS[0], "word " * 10_000]
    size = len(pool)
    columns: dict[str, list[Any]] = {}
    for number, column in enumerate(under_test.needed):
        if under_test.extra_columns is not None and column not in (
            "predictions",
            "references",
            "sources",
        ):
            values = list(under_test.extra_columns[column])
            columns[column] = [values[i % len(values)] for i in range(2 * size)]
            continue
        shift = 0 if number == 0 else 5
        texts = pool + [pool[(i + shift * number) % size] for i in range(size)]
        columns[column] = [[t] for t in texts] if column == "contexts" else list(texts)
        if column in CONVERSATIONS:
            columns[column] = list(map(conversation_with, texts))
    report = under_test.evaluate(columns)
    result = report.results[under_test.metric.name]
    for output, scale in under_test.scales().items():
        for row, value in enumerate([*result.samples()[output].tolist(), result.scores()[output]]):
            shown = {name: repr(v[row])[:60] for name, v in columns.items() if row < len(v)}
            hold(value in scale, f"{output} is {value}, outside {scale.interval}, for {shown}")


def perfection_holds(under_test: MetricUnderTest) -> None:
    """A prediction equal to its reference (or source, without references) scores `perfect`.

    Also a single word, and texts in other scripts, as far as they are scored at all.
    """
    target = next((c for c in ("references", "sources") if c in under_test.needed), None)
    if (
        target is None
        or "predictions" not in under_test.needed
        or under_test.extra_columns is not None
    ):
        return
    columns = {**under_test.columns, "predictions": under_test.columns[target]}
    for name, values in columns.items():
        short = list(SHORT) if name in ("predictions", target) else values[:1] * len(SHORT)
        columns[name] = values + short
    result = under_test.evaluate(columns).results[under_test.metric.name]
    for output, scale in under_test.scales().items():
        if scale.perfect is not None:
            samples = result.samples()[output]
            for value in (*samples[~np.isnan(samples)], result.scores()[output]):
                perfect = _close(under_test, value, scale.perfect)
                hold(perfect, f"{output} is {value}, not {scale.perfect}")


def nothing_is_changed(under_test: MetricUnderTest) -> None:
    """Scoring doesn't change the caller's lists, a second call agrees, and copies are equal.

    Copies of the metric by pickle and by `repr`, and of the report by its file.
    """
    before = copy.deepcopy(under_test.columns)
    first = under_test.evaluate(under_test.columns)
    hold(under_test.columns == before, "measuring changed the caller's columns")
    _same_reports(under_test, first, under_test.evaluate(under_test.columns), "called twice")
    metric = under_test.metric
    hold(pickle.loads(pickle.dumps(metric)) == metric, "the metric doesn't survive pickling")
    again = eval(repr(metric), {type(metric).__name__: type(metric)})
    hold(again == metric, f"repr doesn't recreate the metric: {metric!r}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        try:
            first.save(path)
        except ReportError as error:
            raise Broken(f"its report can't be saved: {error}") from error
        loaded = Report.load(path, metrics=[metric])
    hold(loaded == first, "its report differs after saving and loading")
    _same_reports(under_test, first, loaded, "saved and loaded")


def empty_is_nan(under_test: MetricUnderTest) -> None:
    """Without samples every output is `nan`, and nothing raises an error."""
    view = Block({column: Column((), None) for column in under_test.needed}, 0, 0).view(
        under_test.metric.inputs()
    )
    if isinstance(under_test.metric, CorpusMetric):
        measured = len(measure_objects(under_test.metric, view))
    else:
        measured = len(measure_rows(under_test.metric, view))
    hold(measured == 0, f"without samples, {measured} rows are returned")
    result = under_test.evaluate({column: [] for column in under_test.needed})
    scores = result.results[under_test.metric.name].scores()
    all_nan = set(scores) == set(under_test.scales()) and all(map(np.isnan, scores.values()))
    hold(all_nan, f"without samples, the scores are {scores}")


def nonsense_never_pays(under_test: MetricUnderTest) -> None:
    """A prediction has no score only for reasons that the card declares."""
    if "predictions" not in under_test.columns:
        return
    name = under_test.metric.name
    for nonsense in NONSENSE:
        columns = dict(under_test.columns)
        columns["predictions"] = [nonsense] * len(columns["predictions"])
        report = under_test.evaluate(columns)
        result = report.results[name]
        lost = report.counts()[name].get("unscored", 0)
        why = next(iter(result.reasons), "without a reason")
        hold(
            lost == 0,
            f"the prediction {nonsense!r} is unscored ({why}), so that the mean rises without it; "
            "give it a score, or an undefined_for that the card lists",
        )


def intervals_hold(under_test: MetricUnderTest) -> None:
    """Every interval holds its score, and the samples of a share are 0 or 1."""
    report = under_test.evaluate(under_test.columns)
    result = report.results[under_test.metric.name]
    scores, samples = result.scores(), result.samples()
    for output, interval in report.intervals(resamples=200)[under_test.metric.name].items():
        scale = under_test.metric.card.scale(output)
        in_interval = np.isnan(interval.low) or interval.low <= scores[output] <= interval.high
        hold(in_interval, f"{output} is {scores[output]}, outside its interval {interval}")
        if scale is not None:
            inside = interval.low in scale and interval.high in scale
            hold(inside, f"the interval of {output}, {interval}, leaves its range {scale.interval}")
        if scale is not None and scale.share:
            values = {value for value in samples[output].tolist() if not np.isnan(value)}
            hold(values <= {0, 1}, f"{output} is a share on the card, and has samples of {values}")


LAWS: tuple[Callable[[MetricUnderTest], None], ...] = (
    one_name,
    card_is_complete,
    inputs_agree,
    outputs_agree,
    rows_are_finite,
    score_broadcasts,
    measuring_merges,
    order_is_irrelevant,
    any_text_is_valid,
    perfection_holds,
    nothing_is_changed,
    examples_run,
    empty_is_nan,
    nothing_heavy_loads,
    nonsense_never_pays,
    intervals_hold,
)


def _same(first: Any, second: Any) -> bool:
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True))


def _close(under_test: MetricUnderTest, first: Any, second: Any) -> bool:
    """Whether scores agree within the card's tolerance, or else up to rounding."""
    tolerance = under_test.entry.card.tolerance
    near = np.allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True)
    return bool(near) or _same(first, second)


def _same_reports(under_test: MetricUnderTest, first: Report, second: Report, what: str) -> None:
    for name, result in first.results.items():
        for output, value in result.scores().items():
            again = second.results[name].scores()[output]
            hold(_close(under_test, value, again), f"{what}: {output} is {value}, then {again}")


def _resamples_conclude_alike(metric: CorpusMetric, rows: Sequence[Any]) -> None:
    """Raise `Broken` if a resampler gives other scores than `conclude` for the drawn rows.

    The resamples are the rows themselves, and two in which some are left out and some are double.
    """
    resampled = metric.resampler(rows)
    if resampled is None:
        return
    each = np.arange(len(rows))
    times = np.array([np.ones(len(rows)), each % 3, 2 - each % 3])
    scores = resampled(times)
    for number, counts in enumerate(times.astype(np.int64)):
        drawn = [rows[row] for row in np.repeat(each, counts).tolist()]
        for name, value in metric.conclude(drawn).items():
            hold(name in scores, f"the resampler doesn't give {name}")
            score = scores[name][number]
            hold(
                _same(score, value),
                f"the resampler gives {name} as {score}, and conclude as {value}",
            )


def _condensed_rows_conclude_alike(metric: CorpusMetric, rows: Sequence[Any]) -> None:
    """Raise `Broken` if condensed rows give other scores than the rows.

    They are condensed in three parts, one of them empty, and the parts together once more.
    """
    half = len(rows) // 2
    parts: tuple[Sequence[Any], ...] = (rows[half:], [], rows[:half])
    condensed = metric.condense([row for part in parts for row in metric.condense(part)])
    scores = metric.conclude(condensed)
    for name, value in metric.conclude(rows).items():
        score = scores[name]
        hold(_same(score, value), f"condensed rows give {name} as {score}, and the rows {value}")


def _samples_score_alone(metric: Metric, rows: Stats) -> None:
    """Raise `Broken` unless `score_samples` scores each row by itself, and no other."""
    # The last row has no sample: none of its statistics may reach a score.
    rows = rows.only(rows.scored & (np.arange(len(rows)) < len(rows) - 1))
    for name, values in sample_scores(metric, rows).items():
        wrong = np.flatnonzero(np.isnan(values) == rows.scored).tolist()
        hold(not wrong, f"score_samples: {name} of the samples {wrong} is nan, or should be")
        for row in range(len(rows)):
            part = {key: array[row : row + 1] for key, array in rows.arrays.items()}
            alone = sample_scores(metric, Stats(part, rows.scored[row : row + 1], {}, {}))[name]
            hold(_same(alone[0], values[row]), f"score_samples: {name} depends on other samples")
