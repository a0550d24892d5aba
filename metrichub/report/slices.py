"""Slices: the scores of each group of samples, and a paired test in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

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
    p_text,
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
    """All slices, of which system -> other were tested, by so many swaps."""

    slices: Sequence[Slice]
    pair: Pair | None
    trials: int

    def rows(self) -> list[dict[str, Any]]:
        """Every slice and headline output with its scores and its test; plain dicts, for JSON."""
        return [
            {
                "column": one.grouping.key,
                "value": one.value,
                "samples": one.size,
                "system": self.pair and self.pair[0],
                "scores": {name: scores[metric] for name, scores in one.scores.items()},
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
            for one in self.slices
            for metric, tests in one.tests.items()
        ]

    def table(self, systems: Mapping[str, Measurement]) -> Table:
        """A row a slice and headline output, with the difference of the pair."""
        assert self.pair is not None
        other, baseline = self.pair
        columns = output_columns(systems, ScoreFormat())
        rows: list[list[Cell]] = []
        for one in self.slices:
            for column in columns:
                scores, test = [], one.tests.get(column.metric, {}).get(column.output)
                for name in (baseline, other):
                    score = one.scores[name].get(column.metric, {}).get(column.output, math.nan)
                    scores.append(Score(column.number(score)))
                cells = [Score("–"), Score("–")]
                if test:
                    cells = [column.difference(test), Score(p_text(test.p, ""))]
                rows.append([one.value, one.size, column.head, *scores, *cells])
        name = self.slices[0].grouping.name if self.slices else ""
        caption = (
            f"Difference of {other} from {baseline} by {name}; p is corrected over all slices of "
            f"at least {FEWEST} samples"
        )
        head = [name, "samples", "metric", baseline, other, "difference", "p"]
        return Table(head, rows, caption=caption)


def slices_of(
    systems: Mapping[str, Measurement],
    groupings: Sequence[Grouping],
    pair: Pair | None,
    options: SignificanceOptions,
) -> Slices:
    """The scores of every group of samples, with tests of a pair, or of one system intervals."""
    kept = {
        name: with_facts(
            replace(report, texts=None, traces={}),
            # `take` counts it from a column that is left out here.
            unextracted={},
            metadata={k: v for k, v in report.metadata.items() if k == options.cluster},
        )
        for name, report in systems.items()
    }
    places = [
        (grouping, value, np.flatnonzero(grouping.of == k))
        for grouping in groupings
        for k, value in enumerate(grouping.values)
    ]
    places = [place for place in places if len(place[2])]
    size = next(iter(systems.values())).size
    tested = sum(len(index) >= FEWEST for *_, index in places) if size <= MOST_SAMPLES else 0
    metrics = _testable(systems, pair)
    first = next(iter(kept.values()))
    outputs = max((len(first.results[m].metric.headline()) for m in metrics), default=0)
    work = sum(len(index) for *_, index in places) * len(metrics)
    enough = min(options.trials, _WORK // max(work, 1))
    trials = max(enough, TRIALS_A_TEST * tested * outputs)
    listed = []
    for grouping, value, index in places:
        parts = {name: report.take(index) for name, report in kept.items()}
        scores = {
            name: {metric: result.scores() for metric, result in part.results.items()}
            for name, part in parts.items()
        }
        tests: Comparisons = {}
        intervals: Intervals = {}
        part = next(iter(parts.values()))
        if size <= MOST_SAMPLES and _drawable(part, options.cluster):
            if pair and len(index) >= FEWEST:
                sides = [{m: parts[name].results[m] for m in metrics} for name in pair]
                units = partial(part.units, cluster=options.cluster)
                how = options._replace(trials=trials)
                tests = compare_pairs(
                    {pair: (sides[0], sides[1])}, units, len(index), how
                ).compared[pair]
            elif len(parts) == 1:
                added = [name for name, result in part.results.items() if result.adds_up]
                how_drawn = options.of_intervals()
                intervals = intervals_of(part, metrics=added, **how_drawn) if added else {}
        listed.append(Slice(grouping, value, len(index), scores, tests, intervals))
    return Slices(_corrected(listed, metrics, kept, pair), pair, trials if tested and pair else 0)


def _testable(systems: Mapping[str, Measurement], pair: Pair | None) -> list[str]:
    """The metrics that both systems have and whose tests take a moment."""
    if pair is None:
        return []
    mine, theirs = (systems[name] for name in pair)
    return [
        name
        for name in comparable(mine, theirs)
        if mine.results[name].adds_up and theirs.results[name].adds_up
    ]


def _drawable(part: Measurement, cluster: str | None) -> bool:
    """Whether there are units to draw: of a single cluster nothing can be drawn."""
    if cluster is None:
        return True
    return cluster in part.metadata and clusters(cluster, part.metadata).number > 1


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
            (k, output): test.randomisation_p
            for k, one in enumerate(listed)
            for output, test in one.tests.get(metric, {}).items()
            if output in headline and test.samples >= FEWEST and not test.withheld
        }
        for (k, output), p in holm(family).items():
            own: dict[str, Comparison] = listed[k].tests[metric]
            own[output] = own[output]._replace(p=p)
    return listed
