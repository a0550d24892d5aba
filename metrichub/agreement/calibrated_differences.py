"""Calibrated differences: two systems, a judge that may favor one, and people's labels of few.

On samples with labels of both systems, the labels' difference is corrected by that of the judge's
scores on all samples (prediction-powered; Angelopoulos et al. 2023), so that what the judge adds to
one system falls out. Where no sample has labels of both, two calibrated means are compared, as if
they had nothing in common. A judge that isn't fair can't be tested by swaps: Student's t does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import nan, sqrt
from typing import Any

import numpy as np

from metrichub.agreement.of_report import kept_column
from metrichub.agreement.prediction_powered import LEAST_OTHERS, powered_mean
from metrichub.agreement.ratings import Array, read_ratings
from metrichub.cli.output import emit, result_format
from metrichub.data.files import Samples, as_one, read_samples
from metrichub.data.samples import check_same_samples
from metrichub.data.tidy import in_order
from metrichub.errors import InputError, listed
from metrichub.evaluation.distributions import student, t_tail
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.resample import NO_INTERVAL, Interval
from metrichub.evaluation.significance import Comparison, PairTests, SignificanceOptions
from metrichub.report.tables import Table

_MEANS = "two calibrated means, as no sample has labels of both systems"
Systems = Mapping[str, Measurement]
LABEL, SUFFIXES = "label", (".csv", ".json", ".jsonl")
"""The column that people fill, and how the files end in which they do."""


def calibrated(tests: PairTests, systems: Systems, options: SignificanceOptions) -> PairTests:
    """The tests with the differences that people's labels tell; see `metrichub.compare_all`.

    Raises:
        InputError: samples belong together, or labels aren't of these systems and samples.
        MissingColumn: a system has no such column.
        ReportError: the samples weren't kept.
    """
    _check_single(next(iter(systems.values())).metadata, options.cluster)
    labels = _labels(systems, str(options.calibrate))
    tests_used = set[str]()
    for pair, metrics in tests.compared.items():
        people = np.array([labels[name] for name in pair])
        for metric, outputs in metrics.items():
            scores = [systems[name].results[metric].samples() for name in pair]
            for output, test in outputs.items():
                judge = np.array([by_output.get(output, people[0] * nan) for by_output in scores])
                outputs[output] = new = _calibrated(test, judge, people, options.confidence)
                tests_used.add(f"{new.test}, with labels of {new.units:,} samples")
    about = f"by {listed(sorted(tests_used))}; labels must be a random choice of the samples"
    cards = {m: s.results[m].metric.card for s in systems.values() for m in s.results}
    down = [m for m, card in cards.items() if card.better(card.headline[0]) == "lower"]
    about += f", and higher ones are worse, as scores of {listed(down)} are" if down else ""
    return PairTests(tests.compared, {}, [about])


def _check_single(columns: Mapping[str, Iterable[object]], cluster: str | None = None) -> None:
    """Raise `InputError` where samples belong together."""
    ids = [*map(str, columns.get("id", ()))]
    if cluster is not None or len({*ids}) < len(ids):
        raise InputError(
            "differences can't be calibrated where samples belong together, by a cluster or by an "
            "id that repeats; leave the calibration out, or keep one sample of each"
        )


def _calibrated(test: Comparison, judge: Array, people: Array, level: float) -> Comparison:
    """The test of the difference of two systems' scores and labels (2, N)."""
    scored = np.isfinite(judge).all(axis=0)
    judge, people = judge[:, scored], people[:, scored]
    labelled = np.isfinite(people)
    means = not labelled.all(axis=0).any() and labelled.sum(axis=1).min() >= LEAST_OTHERS
    if not means:
        # Tenths that are subtracted differ in their last digits.
        judge, people = judge[:1] - judge[1:], np.round(people[:1] - people[1:], 9)
    labels = [side[np.isfinite(side)] for side in people]
    number = min(map(len, labels))
    difference = se = freedom = nan
    why = f"{number} samples have labels of both"
    if number >= LEAST_OTHERS:
        difference, se, freedom = _estimate(judge, people)
        most_common = [int(np.unique(side, return_counts=True)[1].max()) for side in labels]
        rarer = min(len(side) - most for side, most in zip(labels, most_common, strict=True))
        usual = means or np.median(labels[0])
        differ = "labels differ from the most common one" if usual else "the systems differ"
        why = f"{differ} on {rarer} of {number} samples" if rarer < LEAST_OTHERS else ""
    p, interval = nan, NO_INTERVAL
    if not (why or test.withheld):
        half = student(freedom, level) * se
        low, high = difference - half, difference + half
        interval = Interval(low=low, high=high, mean=difference, std=se, method="Student's t")
        p = 2 * t_tail(abs(difference) / se, freedom) if se else 1.0
    return replace(
        test,
        difference=difference,
        interval=interval,
        randomization_p=p,
        sacrebleu_bootstrap_p=nan,
        withheld=test.withheld or (f"{why}; a verdict takes {LEAST_OTHERS}" if why else None),
        se=se,
        units=number,
        test=f"Student's t of {_MEANS if means else 'calibrated differences'}",
        judged=test.difference,
    )


def _estimate(judge: Array, people: Array) -> tuple[float, float, float]:
    """A mean of differences, or the difference of two means; its error and degrees of freedom."""
    rows = zip(people, judge, np.isfinite(people), strict=True)
    sides = [powered_mean(y[rated], f[rated], f[~rated]) for y, f, rated in rows]
    difference = sides[0][0].mean - sum(powered.mean for powered, *_ in sides[1:])
    variance = sum(of for _, of, _ in sides)
    squares = sum(of**2 / freedom for _, of, freedom in sides)
    return difference, sqrt(variance), variance**2 / squares if squares else 1.0


def _labels(systems: Systems, calibrate: str) -> dict[str, Array]:
    """People's labels of each system's samples (N,), from a column or a file."""
    if not calibrate.lower().endswith(SUFFIXES):
        columns = {name: kept_column(report, calibrate, name) for name, report in systems.items()}
    else:
        rows = read_samples(calibrate)
        key = "id" if "id" in rows else "sample"
        cells = rows.choose({name: name for name in ("system", key, LABEL)}).values()
        label_of = {(name, str(sample)): label for name, sample, label in zip(*cells, strict=True)}
        columns = {}
        for name, report in systems.items():
            samples = report.metadata.get(key, range(report.size))
            columns[name] = [label_of.pop((name, str(sample)), None) for sample in samples]
        for system, sample in label_of:
            raise InputError(
                f"{calibrate}: {system} has no sample {sample}; systems: {listed(systems)}"
            )
    return {
        name: read_ratings(calibrate, column, systems[name].size).mean
        for name, column in columns.items()
    }


def show_for_labels(
    systems: Mapping[str, Iterable[Samples]], number: int, seed: int, output: str | None
) -> None:
    """Write samples that are drawn at random, all if there are fewer: a row an answer, and a label.

    Raises:
        InputError: the systems have different samples, or ids that repeat.
    """
    samples = in_order({name: as_one([*batches]) for name, batches in systems.items()})
    check_same_samples(samples, {}, {})
    first = next(iter(samples.values()))
    _check_single(first)
    rows = [
        {column: values[at] for column, values in answers.items()}
        | {"sample": at, "system": name, LABEL: None}
        for at in sorted(np.random.default_rng(seed).permutation(first.size)[:number].tolist())
        for name, answers in samples.items()
    ]
    head = dict.fromkeys(key for row in rows for key in row)
    cells = [[_cell(row.get(key)) for key in head] for row in rows]
    form = result_format(None, output) if output else "csv"
    emit(form, lambda: [Table([*head], cells)], lambda: rows, output=output)


def _cell(value: object) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
