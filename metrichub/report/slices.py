"""Slices: the scores of groups of samples, a paired test in each, and tests against the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation.distributions import t_tail
from metrichub.evaluation.measurement import Measurement, with_facts
from metrichub.evaluation.merge import comparable
from metrichub.evaluation.resample import holm
from metrichub.evaluation.resampling_units import clusters
from metrichub.evaluation.significance import (
    Comparison,
    Comparisons,
    Pair,
    SignificanceOptions,
    compare_pairs,
    is_significant,
    p_text,
    withheld,
)
from metrichub.report.by_output import intervals_of
from metrichub.report.groupings import FEWEST, Grouping
from metrichub.report.rows import Intervals, ScoreFormat, output_columns
from metrichub.report.tables import Cell, Score, Table

MOST_SAMPLES = 20_000
"""Of larger reports the slices have scores alone, without intervals and tests."""
TRIALS_A_TEST = 40
"""Swaps for each test of a family, at least: the smallest p that the correction leaves is 1/40."""
_WORK = 300_000_000
"""Swaps of samples, times metrics, above this least number."""


class Slice(NamedTuple):
    """One value of a grouping: the scores of its samples, and the tests of a pair of systems.

    `scores` holds system -> metric -> output -> score; `tests` metric -> output -> `Comparison`,
    p corrected by Holm's method over all slices and headline outputs of the metric, `nan` for
    slices of fewer than `FEWEST` samples. `intervals` are those of one system alone.
    """

    grouping: Grouping
    value: str
    size: int
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]
    tests: Comparisons
    intervals: Intervals


class Slices(NamedTuple):
    """All slices, and the `pair` of systems that was tested in them, by `trials` swaps.

    `sentence` names the weakest of those that differ from the rest, or says that none does; it is
    "" where nothing can be tested.
    """

    slices: Sequence[Slice]
    pair: Pair | None
    trials: int
    sentence: str

    def rows(self) -> list[dict[str, Any]]:
        """Every slice and headline output with its scores and its test; plain dicts, for JSON."""
        return [
            {
                "column": part.grouping.key,
                "value": part.value,
                "samples": part.size,
                "system": self.pair and self.pair[0],
                "scores": {name: scores[metric] for name, scores in part.scores.items()},
                "metric": metric,
                "tests": {
                    output: {
                        "difference": test.difference,
                        "low": test.interval.low,
                        "high": test.interval.high,
                        "p": test.p,
                    }
                    for output, test in tests.items()
                    if not math.isnan(test.p)
                },
            }
            for part in self.slices
            for metric, tests in part.tests.items()
        ]

    def table(self, systems: Mapping[str, Measurement]) -> Table:
        """A row a slice and headline output, with the difference of the pair."""
        assert self.pair is not None
        other, baseline = self.pair
        columns = output_columns(systems, ScoreFormat())
        rows: list[list[Cell]] = []
        for part in self.slices:
            for column in columns:
                scores, test = [], part.tests.get(column.metric, {}).get(column.output)
                for name in (baseline, other):
                    score = part.scores[name].get(column.metric, {}).get(column.output, math.nan)
                    scores.append(Score(column.number(score)))
                cells = [Score("–"), Score("–")]
                if test:
                    cells = [column.difference(test), Score(p_text(test.p, ""))]
                rows.append([part.value, part.size, column.head, *scores, *cells])
        name = self.slices[0].grouping.name if self.slices else ""
        caption = (
            f"Difference of {other} from {baseline} by {name}; p is corrected over all slices of "
            f"at least {FEWEST} samples"
        )
        caption = "; ".join(filter(None, (caption, self.sentence)))
        head = [name, "samples", "metric", baseline, other, "difference", "p"]
        return Table(head, rows, caption=caption)


def slices_of(
    systems: Mapping[str, Measurement],
    groupings: Sequence[Grouping],
    pair: Pair | None,
    options: SignificanceOptions,
) -> Slices:
    """The scores of every group of samples, with tests of a pair, or of one system intervals."""
    clustered, cluster = next(iter(systems.values())).clustered(options.cluster)
    options = options._replace(cluster=cluster)
    reports = {
        name: with_facts(
            replace(report, texts=None, traces={}),
            # `take` counts it from a column that is left out here.
            unextracted={},
            metadata={k: v for k, v in clustered.metadata.items() if k == cluster},
        )
        for name, report in systems.items()
    }
    places = [
        (grouping, value, np.flatnonzero(grouping.value_of_sample == k))
        for grouping in groupings
        for k, value in enumerate(grouping.values)
    ]
    places = [place for place in places if len(place[2])]
    size = next(iter(systems.values())).size
    tested = sum(len(index) >= FEWEST for *_, index in places) if size <= MOST_SAMPLES else 0
    sides = {name: reports[name] for name in pair or reports}
    metrics = _testable([systems[name] for name in sides]) if pair or len(sides) == 1 else []
    first = next(iter(reports.values()))
    outputs = max((len(first.results[m].metric.headline()) for m in metrics), default=0)
    work = sum(len(index) for *_, index in places) * len(metrics)
    enough = min(options.trials, _WORK // max(work, 1))
    trials = max(enough, TRIALS_A_TEST * tested * outputs)
    listed = []
    for grouping, value, index in places:
        parts = {name: report.take(index) for name, report in reports.items()}
        scores = {
            name: {metric: result.scores() for metric, result in part.results.items()}
            for name, part in parts.items()
        }
        tests: Comparisons = {}
        intervals: Intervals = {}
        part = next(iter(parts.values()))
        if size <= MOST_SAMPLES and _drawable(part, cluster):
            if pair and len(index) >= FEWEST:
                mine, theirs = ({m: parts[n].results[m] for m in metrics} for n in pair)
                units = partial(part.units, cluster=options.cluster)
                how = options._replace(trials=trials)
                pair_tests = compare_pairs({pair: (mine, theirs)}, units, len(index), how)
                tests = pair_tests.compared[pair]
            elif len(parts) == 1:
                added = [name for name, result in part.results.items() if result.adds_up]
                how_drawn = options.of_intervals()
                intervals = intervals_of(part, metrics=added, **how_drawn) if added else {}
        listed.append(Slice(grouping, value, len(index), scores, tests, intervals))
    able = tested and _drawable(first, cluster)
    sentence = _weakest(listed, sides, metrics, options) if able else ""
    corrected = _corrected(listed, metrics, reports, pair)
    return Slices(corrected, pair, trials if tested and pair else 0, sentence)


def _testable(sides: Sequence[Measurement]) -> list[str]:
    """The metrics that one or two systems have and whose tests take a moment."""
    return [
        name
        for name in comparable(sides[0], sides[-1])
        if all(side.results[name].adds_up for side in sides)
    ]


def _drawable(part: Measurement, cluster: str | None) -> bool:
    """Whether there are units to draw: of a single cluster nothing can be drawn."""
    if cluster is None:
        return True
    return cluster in part.metadata and clusters(cluster, part.metadata).number > 1


def _weakest(
    slices: Sequence[Slice],
    sides: Mapping[str, Measurement],
    metrics: Sequence[str],
    options: SignificanceOptions,
) -> str:
    """Where a system, or the first of a pair, is weakest compared with all other samples.

    Only slices that differ from the rest are named, p corrected over all slices and outputs.
    """
    cluster, (first, *_) = options.cluster, sides.values()
    unit = (
        np.asarray(clusters(cluster, first.metadata).unit_of_sample)
        if cluster
        else np.arange(first.size)
    )
    tests = {}
    for column in output_columns(sides, ScoreFormat()):
        if column.metric not in metrics or column.better == "neither":
            continue
        results = {name: side.results[column.metric] for name, side in sides.items()}
        if withheld(results):
            continue
        values = np.subtract.reduce([result.added()[column.output] for result in results.values()])
        for k, part in enumerate(slices):
            if part.size >= FEWEST:
                signed = -values if column.better == "lower" else values
                tests[column, k] = _against_rest(signed, part, unit)
    p_values = holm({key: p for key, (_, p) in tests.items()})
    significant = [key for key, p in p_values.items() if is_significant(p, options.confidence)]
    if not significant:
        return "no slice differs significantly from the rest" if tests else ""
    column, k = weakest = min(significant, key=lambda key: tests[key])
    word = "weaker" if tests[weakest][0] < 0 else "stronger"
    who = f" is {word} against ".join(sides) if len(sides) > 1 else word
    what = f"{column.label}, {p_text(p_values[weakest])}"
    verb = "are" if slices[k].grouping.name.startswith("words of ") else "is"
    return f"{who} where {slices[k].grouping.name} {verb} {slices[k].value} ({what})"


def _against_rest(
    values: NDArray[np.float64], part: Slice, unit: NDArray[np.int64]
) -> tuple[float, float]:
    """Student's t of the mean of a slice against that of the rest, and p.

    The error is the larger of two: that of sides which vary alike, so that a slice without a single
    miss isn't sure of itself, and that of sides, or clusters, which vary each in its way. The
    degrees of freedom are those of the side with fewer units.
    """
    finite = np.isfinite(values)
    inside = (part.grouping.value_of_sample == part.grouping.values.index(part.value))[finite]
    values, unit = values[finite], unit[finite]
    freedom = min(int(np.bincount(unit, side).astype(bool).sum()) for side in (inside, ~inside)) - 1
    if freedom < 1:
        return math.nan, math.nan
    weights = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
    apart = values - np.where(inside, values[inside].mean(), values[~inside].mean())
    clustered = np.square(np.bincount(unit, weights * apart)).sum() * (freedom + 1) / freedom
    error = math.sqrt(max(values.var(ddof=1) * np.square(weights).sum(), clustered))
    t = float((weights * values).sum()) / error if error > 0 else 0.0
    return t, 2 * t_tail(abs(t), freedom)


def _corrected(
    listed: list[Slice],
    metrics: Sequence[str],
    systems: Mapping[str, Measurement],
    pair: Pair | None,
) -> list[Slice]:
    """The slices, p corrected in place over all of them and the headline outputs of each metric."""
    for metric in metrics:
        headline = systems[pair[0]].results[metric].metric.headline() if pair else ()
        family = {
            (k, output): test.randomization_p
            for k, part in enumerate(listed)
            for output, test in part.tests.get(metric, {}).items()
            if output in headline and test.samples >= FEWEST and not test.withheld
        }
        for (k, output), p in holm(family).items():
            of_metric: dict[str, Comparison] = listed[k].tests[metric]
            of_metric[output] = replace(of_metric[output], p=p)
    return listed
