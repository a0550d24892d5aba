"""Slices: groups of samples by a column, by length or by frequency, and a paired test in each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ReportError
from metrichub.evaluation.lengths import COUNTED, sample_lengths
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import comparable
from metrichub.evaluation.resample import holm
from metrichub.evaluation.resampling_units import clusters, groups
from metrichub.evaluation.significance import (
    Comparison,
    Comparisons,
    Pair,
    SignificanceOptions,
    compare_pairs,
)
from metrichub.report.by_output import intervals_of
from metrichub.report.scoreboard import Intervals, ScoreFormat, output_columns, p_cell
from metrichub.report.tables import Cell, Score, Table
from metrichub.text import Integers, Texts

FEWEST = 20
"""Smaller slices have no test, and don't count in the correction."""
MOST_SAMPLES = 20_000
"""Of larger reports the slices have scores alone, without intervals and tests."""
MOST_VALUES = 50
TRIALS_A_TEST = 40
"""Swaps for each test of a family, at least: the smallest p that the correction leaves is 1/40."""
_WORK = 300_000_000
"""Swaps of samples, times metrics, above this least number."""
_MOST_COLUMNS, _MOST_NUMBERS = 4, 12
_HUGE = 10**300
"""Larger numbers have no place on a scale."""
_NO_VALUE, _OTHERS = "no value", "others"
_LENGTHS = ("references", "sources", "predictions")
"""The columns that tell how long a sample is, the first that is there."""


class Grouping(NamedTuple):
    """Which value each sample has: `of` (N,) are places in `values`, -1 for none."""

    name: str
    key: str
    values: Sequence[str]
    of: NDArray[np.int64]
    about: str = ""

    def data(self) -> dict[str, Any]:
        """What a page's script reads."""
        return {
            "name": self.name,
            "key": self.key,
            "values": list(self.values),
            "of": self.of.tolist(),
        }


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
                    bounds = column.bounds(test.interval, "+")
                    cells[0] = Score(column.number(test.difference, "+"), interval=bounds)
                    cells[1] = p_cell(test.p)
                rows.append([one.value, one.size, column.head, *scores, *cells])
        name = self.slices[0].grouping.name if self.slices else ""
        caption = (
            f"Difference of {other} from {baseline} by {name}; p is corrected over all slices of "
            f"at least {FEWEST} samples"
        )
        head = [name, "samples", "metric", baseline, other, "difference", "p"]
        return Table(head, rows, caption=caption)


def groupings_of(
    systems: Mapping[str, Measurement], ratings: Collection[str] = (), by: str | None = None
) -> list[Grouping]:
    """By the columns that all systems share, by length and by the rarest word of the reference.

    The column `by` always comes, whatever it holds; the first others of few values or of numbers
    follow, without `ratings`.

    Raises:
        ReportError: there is no column `by`, it holds lists, or the systems differ in it.
    """
    first, *others = systems.values()
    if by is not None:
        groups(by, first.metadata, first.size)
    columns = []
    for name, values in first.metadata.items():
        if name != by and (name in (*ratings, "id") or any(isinstance(v, list) for v in values)):
            continue
        if any(other.metadata.get(name) != values for other in others):
            if name == by:
                raise ReportError(f"the systems differ in {by}, so it makes no slices of samples")
            continue
        if grouping := _by_column(name, values, asked=name == by):
            columns.append(grouping)
    columns.sort(key=lambda grouping: grouping.key != by)
    return [*columns[:_MOST_COLUMNS], *_by_texts(first)]


def verdict_groupings(systems: Mapping[str, Measurement]) -> list[Grouping]:
    """By what judges found in each sample: the different verdicts, "no and yes"."""
    found = []
    for system, report in systems.items():
        for metric, trace in report.traces.items():
            said = {
                sample: " and ".join(sorted({*_verdicts(steps)}))
                for sample, steps in trace.steps.items()
            }
            values = [text for text, _ in Counter(filter(None, said.values())).most_common()]
            if values:
                name = f"verdicts of {metric}{f' on {system}' if len(systems) > 1 else ''}"
                place = {text: k for k, text in enumerate(values[:MOST_VALUES])}
                of = [place.get(said.get(i, ""), -1) for i in range(report.size)]
                found.append(Grouping(name, name, values[:MOST_VALUES], np.array(of, np.int64)))
    return found


def cell_groupings(systems: Mapping[str, Measurement]) -> list[Grouping]:
    """By the cell of each system's tables that counts a sample, as of a confusion matrix."""
    found = []
    for system, report in systems.items():
        for metric, result in report.results.items():
            for heading, cells in result.cells().items():
                key = cell_key(system, metric, heading)
                said = [cell and " → ".join(cell) for cell in cells]
                values = [text for text, _ in Counter(filter(None, said)).most_common()]
                place = {text: k for k, text in enumerate(values)}
                of = [place.get(text or "", -1) for text in said]
                found.append(Grouping(key, key, values, np.array(of, np.int64)))
    return found


def cell_key(system: str, metric: str, heading: str) -> str:
    """The grouping by a system's table."""
    return f"{heading} of {' on '.join(filter(None, (metric, system)))}"


def _verdicts(step: Any) -> Iterator[str]:
    if isinstance(step, Mapping):
        if isinstance(verdict := step.get("verdict"), str):
            yield verdict
        step = list(step.values())
    if isinstance(step, list | tuple):
        for part in step:
            yield from _verdicts(part)


def _by_column(name: str, values: Sequence[Any], *, asked: bool) -> Grouping | None:
    """By value, or numbers of many values by quarters; None for what makes no groups."""
    known = [value for value in values if value is not None]
    if all(
        isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < _HUGE for v in known
    ):
        distinct = len({*known})
        if distinct > _MOST_NUMBERS:
            numbered = distinct == len(known) and all(float(v).is_integer() for v in known)
            return _by_quarters(name, name, values) if asked or not numbered else None
    order = sorted({*known}, key=lambda v: (isinstance(v, str), v))
    labels = dict.fromkeys(map(_label, order))
    counts = Counter(map(_label, values))
    if not asked and not 1 < len(counts) <= min(MOST_VALUES, len(values) / 2):
        return None
    about = ""
    if len(labels) > MOST_VALUES:
        about = f"The {MOST_VALUES} largest of {len(labels):,} values of {name}."
        largest = {text for text, _ in counts.most_common() if text != _NO_VALUE}
        labels = dict.fromkeys(
            [text for text, _ in counts.most_common() if text in largest][:MOST_VALUES]
        )
    shown = [*labels, *[_OTHERS] * bool(about), *[_NO_VALUE] * (len(known) < len(values))]
    place = {text: k for k, text in enumerate(shown)}
    rest = place.get(_OTHERS, -1)
    return Grouping(
        name, name, shown, np.array([place.get(_label(v), rest) for v in values]), about
    )


def _label(value: Any) -> str:
    if value is None:
        return _NO_VALUE
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.6g}"
    return str(value)


def _by_quarters(name: str, key: str, values: Any, about: str = "") -> Grouping | None:
    """Four groups of about equal size; samples without a number make one of their own."""
    numbers = np.array([np.nan if v is None else v for v in values], np.float64)
    there = ~np.isnan(numbers)
    if not there.any():
        return None
    cuts = np.unique(np.quantile(numbers[there], [0.25, 0.5, 0.75], method="lower"))
    place = np.where(there, np.searchsorted(cuts, numbers, side="left"), len(cuts) + 1)
    labels: list[str] = []
    of = np.zeros(len(numbers), np.int64)
    for group in np.unique(place).tolist():
        inside = place == group
        of[inside] = len(labels)
        low, high = _label(float(numbers[inside].min())), _label(float(numbers[inside].max()))
        text = low if low == high else f"{low} to {high}"
        labels.append(_NO_VALUE if group > len(cuts) else text)
    return Grouping(name, key, labels, of, about) if len(labels) > 1 else None


def text_lengths(report: Measurement) -> tuple[str, NDArray[np.int64]] | None:
    """What tells how long a sample is, such as its reference, and its words; None without texts."""
    if not report.texts:
        return None
    for column in _LENGTHS:
        lengths = sample_lengths(report.texts, column)
        if lengths is not None and lengths.any():
            return column.removesuffix("s"), lengths
    return None


def _by_texts(report: Measurement) -> Iterator[Grouping]:
    measured = text_lengths(report)
    if measured is None or report.size < FEWEST:
        return
    text, lengths = measured
    taken = [*report.metadata]
    name = f"words of the {text}"
    about = f"Length is that of the {text} in words: {COUNTED}."
    if by_length := _by_quarters(name, _unused("length", taken), lengths, about):
        yield by_length
    if text == "reference" and (rarest := _rarest_words(report)) is not None:
        name = "frequency of the rarest word"
        about = (
            "The rarest word of a reference is the one that the fewest references here have; its "
            "frequency is their number. Of several references of a sample the first counts."
        )
        if by_frequency := _by_quarters(name, _unused("frequency", taken), rarest, about):
            yield by_frequency


def _unused(key: str, taken: Collection[str]) -> str:
    return f"{key} of texts" if key in taken else key


def _rarest_words(report: Measurement) -> list[int | None] | None:
    """In how many samples' references the rarest word of each reference is; None without words."""
    assert report.texts is not None
    hashes, lengths = [], []
    for batch in report.texts.batches:
        if "references" not in batch.columns:
            return None
        items, offsets = batch.columns["references"]
        ends: Sequence[int] = range(len(items) + 1) if offsets is None else offsets.tolist()
        firsts = [items[i] if i < j else "" for i, j in pairwise(ends)]
        for start in range(0, len(firsts), _BLOCK):
            tokens = Texts(firsts[start : start + _BLOCK]).tokens("unicode")
            hashes.append(tokens.hashes)
            lengths.append(tokens.lengths)
    counts: Integers = np.concatenate(lengths)
    _, word = np.unique(np.concatenate(hashes), return_inverse=True)
    sample = np.repeat(np.arange(len(counts)), counts)
    frequency = np.bincount(np.unique(word * len(counts) + sample) // max(len(counts), 1))
    rarest = np.full(len(counts), len(counts) + 1)
    np.minimum.at(rarest, sample, frequency[word])
    return [None if n > len(counts) else n for n in rarest.tolist()]


_BLOCK = 10_000
"""Samples whose references are cut into words together."""


def slices_of(
    systems: Mapping[str, Measurement],
    groupings: Sequence[Grouping],
    pair: Pair | None,
    options: SignificanceOptions,
) -> Slices:
    """The scores of every group of samples, with tests of a pair, or of one system intervals."""
    kept = {
        name: replace(
            report,
            texts=None,
            traces={},
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
    metrics = _testable(kept, pair)
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
                tests = compare_pairs({pair: (sides[0], sides[1])}, units, len(index), how)[pair]
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
