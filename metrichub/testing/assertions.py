"""Limits that scores have to keep, for tests and continuous integration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from metrichub import Interval, Report, compare_all
from metrichub.data.columns import column_of
from metrichub.errors import ParameterError, ReportError, SpecError, what, without_warnings
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.thresholds import Threshold, finite_number
from metrichub.metric import Metric

On = Literal["score", "interval"]
_WORST = 3
_LONGEST = 200
"""How many characters of a text a failure shows."""


def assert_scores(
    report: Report,
    limits: Mapping[str, str | float],
    *,
    on: On = "score",
    baseline: Report | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = SEED,
) -> None:
    """Fail, with an explanation, unless all scores of a report meet their thresholds.

    `limits` maps "bleu" or "rouge.rougeL" to ">= 0.3", "> 0.3", "<= 0.2" or "< 0.2", or to a
    number, which means at least as good as that. With `on="interval"`, the whole bootstrap interval
    has to meet the threshold, so that a few lucky samples aren't enough. A score that is `nan`
    meets none; nor does one without an interval then, for example a perfect wer.

    ">= baseline - 0.01", or "<= baseline + 0.01" where lower is better, is met only if the samples
    show that the score is worse than that of the report `baseline` by no more than 0.01, with an
    error of at most 1 - confidence: few samples show nothing, and the message says how many would.

    >>> from metrichub import Hub
    >>> report = Hub("wer").evaluate(predictions=["a b", "c"], references=["a b", "d"])
    >>> assert_scores(report, {"wer": "<= 0.5"})
    >>> assert_scores(report, {"wer": 0.2})
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 1 limits missed (2 samples):
      wer.score is 0.3333 and should be <= 0.2: 0.1333 too high
    the worst samples by wer.score:
      sample 1: 1
        predictions: c
        references: d

    Raises:
        AssertionError: a score misses its threshold. The message says by how much, and shows the
            worst samples, with their texts if the report kept them.
        ReportError: there is no such metric or output, a threshold is out of the score's range, or
            intervals can't be computed because the report is pooled.
        SpecError: a value isn't a valid threshold.
        ParameterError: `on` has an unknown value, or `baseline` is missing.
    """
    __tracebackhide__ = True
    if not isinstance(report, Report):
        raise ReportError(f"pass a report, hub.evaluate(...), not {what(report)}")
    if on not in ("score", "interval"):
        raise ParameterError(None, "on", on, "'score' or 'interval'")
    thresholds = _thresholds(limits, {n: result.metric for n, result in report.results.items()})
    how: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    scores = report.scores()
    bounds = {threshold: scores[threshold.metric][threshold.output] for threshold in thresholds}
    if on == "interval":
        intervals = report.intervals(metrics={threshold.metric for threshold in thresholds}, **how)
        bounds = {
            threshold: threshold.worse_end(intervals[threshold.metric][threshold.output])
            for threshold in thresholds
        }
    failed = {threshold: bound for threshold, bound in bounds.items() if not threshold.holds(bound)}
    with without_warnings():
        beyond = [*_beyond_margins(report, baseline, limits, how)]
    if failed or beyond:
        raise AssertionError("\n".join(_message(report, len(limits), failed, beyond, on, how)))


def _thresholds(
    limits: Mapping[str, str | float], metrics: Mapping[str, Metric]
) -> Sequence[Threshold]:
    if not isinstance(limits, Mapping) or not limits:
        raise SpecError(
            f"limits is {what(limits)}; give at least one, for example {{'bleu': '>= 0.3'}}"
        )
    fixed = {name: limit for name, limit in limits.items() if "baseline" not in str(limit)}
    return [Threshold.of(name, limit, metrics) for name, limit in fixed.items()]


def _beyond_margins(
    report: Report, baseline: Report | None, limits: Mapping[str, object], how: Mapping[str, Any]
) -> Iterator[str]:
    """A sentence for each output that isn't shown to keep its margin from the baseline."""
    metrics = {name: result.metric for name, result in report.results.items()}
    for name, limit in limits.items():
        text, output = "".join(str(limit).split()), Threshold.named(name, ">=", math.nan)
        if "baseline" in text:
            better = metrics[output.check(metrics).metric].card.better(output.output)
            begin = "<= baseline + " if better == "lower" else ">= baseline - "
            margin = finite_number(text.removeprefix(begin.replace(" ", "")))
            if margin is None or margin <= 0:
                raise SpecError(
                    f"{limit!r} isn't a margin of {name}; write '{begin}0.01', with a number above "
                    "0 in the score's own unit"
                )
            if baseline is None:
                raise ParameterError(None, "baseline", None, f"the report that {limit!r} is about")
            systems = {"the baseline": baseline, "the report": report}
            ranking = compare_all(systems, metrics=output.metric, trials=1, **how)
            verdict = ranking.not_worse("the report", name, margin, confidence=how["confidence"])
            if not verdict.shown:
                yield verdict.sentence


def _message(
    report: Report,
    limits: int,
    failed: Mapping[Threshold, float],
    beyond: Sequence[str],
    on: On,
    how: Mapping[str, Any],
) -> Iterator[str]:
    yield f"{len(failed) + len(beyond)} of {limits} limits missed ({report.size} samples):"
    yield from (f"  {sentence}" for sentence in beyond)
    for threshold, bound in failed.items():
        yield f"  {_failure(report, threshold, bound, on, how)}"
    for threshold in failed:
        yield from _worst(report, threshold)


def _failure(
    report: Report, threshold: Threshold, bound: float, on: On, how: Mapping[str, Any]
) -> str:
    score = report.scores()[threshold.metric][threshold.output]
    interval = _interval(report, threshold, how)
    percent = f"{100 * how['confidence']:g}% interval"
    limit = f"should be {threshold.sign} {threshold.value:g}"
    if on == "score":
        shown = f" ({percent} {_span(interval)})" if interval and not interval.why else ""
        return f"{threshold.name} is {_shown(score)} and {limit}: {_off(threshold, bound)}{shown}"
    if interval is None or interval.why:
        why = f": {interval.why}" if interval else " to compare with the limit"
        return f"{threshold.name} is {_shown(score)}, and has no interval{why}"
    return (
        f"{threshold.name} is {_shown(score)}, and all of its {percent}, {_span(interval)}, "
        f"{limit}: {_off(threshold, bound)}"
    )


def _off(threshold: Threshold, bound: float) -> str:
    """How far a score, or the worse end of its interval, is off the limit."""
    if math.isnan(bound):
        return "there is no score"
    off = abs(bound - threshold.value)
    return f"{_shown(off)} too {'low' if threshold.least else 'high'}" if off else "just not"


def _interval(report: Report, threshold: Threshold, how: Mapping[str, Any]) -> Interval | None:
    try:
        intervals = report.intervals(metrics=threshold.metric, **how)
    except ReportError:
        return None
    interval = intervals[threshold.metric][threshold.output]
    return interval if interval.why or not math.isnan(interval.low) else None


def _worst(report: Report, threshold: Threshold) -> Iterator[str]:
    """The samples furthest on the wrong side of the limit, with their texts if they were kept."""
    try:
        values = report.results[threshold.metric].samples()[threshold.output]
    except ReportError:
        return
    order = np.argsort(values if threshold.least else -values, kind="stable")
    failing = (int(s) for s in order if not (math.isnan(values[s]) or threshold.holds(values[s])))
    worst = list(islice(failing, _WORST))
    if worst:
        yield f"the worst samples by {threshold.name}:"
    ids = report.metadata.get("id")
    read = {column_of(name) for name in report.results[threshold.metric].metric.inputs()}
    for sample in worst:
        named = "" if ids is None else f" (id {ids[sample]})"
        yield f"  sample {sample}{named}: {_shown(values[sample])}"
        texts = report.texts[sample] if report.texts is not None else {}
        yield from (f"    {n}: {_short(text)}" for n, text in texts.items() if n in read)


def _shown(value: float) -> str:
    return f"{value:.4g}"


def _span(interval: Interval) -> str:
    return f"{_shown(interval.low)} to {_shown(interval.high)}"


def _short(value: object) -> str:
    """A text, or a list of several, on one line."""
    several = isinstance(value, (list, tuple))
    text = " | ".join(map(str, value)) if several else str(value)  # type: ignore[call-overload]  # several
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
