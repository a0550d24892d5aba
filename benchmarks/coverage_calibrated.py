"""How often the intervals of calibrated means hold the true mean: one section of the coverage.

    python -m benchmarks.coverage_calibrated [--sets 2000]

Each set has people's labels of a few samples and a judge's scores of these and 1,000 more. Yes/no
judges are right of a share of both the yes and the no; ratings from 1 to 5 and normal ones have a
judge that adds its own noise. Where the labels carry no interval, that is counted instead.

A second table has the difference of two systems that are equal, of 500 samples, where the judge
favors the first by half of what texts differ: from labels of the same samples, from labels of
different ones as two calibrated means, from labels alone and from the judge alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub import Hub
from metrichub.agreement import calibrated_mean
from metrichub.evaluation.distributions import student

Array = NDArray[np.float64]
LABELS = (10, 20, 30, 50, 100, 200)
RATES = (0.5, 0.8, 0.9, 0.95, 0.99)
RIGHT = (0.7, 0.85, 0.9, 0.99)
OTHERS = 1000
SEED = 12345
PAIRED, BIAS, COUNTS = 500, 0.5, (30, 60, 120)
WAYS = ("judge alone", "labels alone", "two calibrated means", "calibrated difference")


class Coverage(NamedTuple):
    """The share of intervals that hold the true mean, of sets that have one, and what lacks one."""

    drawn: str
    labels: int
    held: float
    none: float
    width: float


class Drawn(NamedTuple):
    """A way to draw people's labels and a judge's scores of so many samples, and the true mean."""

    title: str
    mean: float
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]


def calibrated(sets: int, labels: tuple[int, ...] = LABELS) -> Iterator[Coverage]:
    """The coverage of every way to draw sets, by the number of labels."""
    for drawn in [*(yes_no(p, right) for p in RATES for right in RIGHT), *RATED]:
        for count in labels:
            yield coverage(drawn, count, sets)


def coverage(drawn: Drawn, labels: int, sets: int) -> Coverage:
    """How often the 95% interval holds the mean, with so many labels."""
    random = np.random.default_rng([SEED, labels])
    held, widths = 0, []
    for _ in range(sets):
        human, judge = drawn.draw(random, labels + OTHERS)
        human[labels:] = np.nan
        mean = calibrated_mean(judge, human)
        if mean.why is None:
            held += mean.low <= drawn.mean <= mean.high
            widths.append(mean.high - mean.low)
    have = len(widths)
    none, width = 1 - have / sets, float(np.mean(widths)) if have else float("nan")
    return Coverage(drawn.title, labels, held / have if have else float("nan"), none, width)


def yes_no(rate: float, right: float) -> Drawn:
    """Labels of this rate of yes, and a judge that is right of this share of both."""

    def draw(random: np.random.Generator, size: int) -> tuple[Array, Array]:
        true = random.random(size) < rate
        message = np.where(random.random(size) < right, true, ~true)
        return true.astype(np.float64), message.astype(np.float64)

    return Drawn(f"{rate:g} yes, right {right:g}", rate, draw)


def normal(noise: float) -> Drawn:
    """Normal ratings, and a judge that adds so much normal noise."""

    def draw(random: np.random.Generator, size: int) -> tuple[Array, Array]:
        true = random.normal(size=size)
        return true, true + noise * random.normal(size=size)

    return Drawn(f"normal, noise {noise:g}", 0.0, draw)


def stars(chances: tuple[float, ...]) -> Drawn:
    """Ratings from 1 with these chances, and a judge that is about one off."""
    values = np.arange(1.0, len(chances) + 1)

    def draw(random: np.random.Generator, size: int) -> tuple[Array, Array]:
        true = random.choice(values, size, p=chances)
        return true, np.clip(np.round(true + random.normal(size=size)), 1, len(chances))

    return Drawn(f"1 to 5, {chances[-1]:.0%} of 5", float(values @ chances), draw)


RATED = (
    *(normal(noise) for noise in (0.3, 1.0, 3.0)),
    *(stars(c) for c in ((0.05, 0.1, 0.2, 0.35, 0.3), (0.02, 0.03, 0.05, 0.1, 0.8))),
    stars((0.01, 0.01, 0.01, 0.02, 0.95)),
)


def differences(kind: str, labels: int, sets: int) -> dict[str, Coverage]:
    """How often 95% intervals hold the difference of two equal systems, in each way."""
    random = np.random.default_rng([SEED, labels])
    hub = Hub("recorded(column='grade', better='higher')")
    ends: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(sets):
        people, judge = systems(random, kind)
        order = random.permutation(PAIRED)
        both = np.full((2, PAIRED), np.nan)
        both[:, order[:labels]] = people[:, order[:labels]]
        apart = np.full((2, PAIRED), np.nan)
        for k, grades in enumerate(apart):
            chosen = order[k * labels : (k + 1) * labels]
            grades[chosen] = people[k, chosen]
        for way, labelled in (("calibrated difference", both), ("two calibrated means", apart)):
            reports = [
                hub.evaluate({"grade": values.tolist(), "good": rated.tolist()})
                for values, rated in zip(judge, labelled, strict=True)
            ]
            test = reports[0].compare(reports[1], calibrate="good", resamples=1, trials=1)
            ends[way].append(test["grade"]["score"].interval.ends)
        ends["judge alone"].append(by_student(judge[0] - judge[1]))
        ends["labels alone"].append(by_student((people[0] - people[1])[order[:labels]]))
    coverages = {}
    for way, pairs in ends.items():
        have = np.array([pair for pair in pairs if pair[0] == pair[0]])
        held = float(((have[:, 0] <= 0) & (have[:, 1] >= 0)).mean())
        none, width = 1 - len(have) / sets, float(np.diff(have).mean())
        coverages[way] = Coverage(f"{kind}: {way}", labels, held, none, width)
    return coverages


def systems(random: np.random.Generator, kind: str) -> tuple[Array, Array]:
    """People's labels of two equal systems (2, N), and scores of a judge that favors the first."""
    quality = random.normal(size=PAIRED) + 0.9 * random.normal(size=(2, PAIRED))
    seen = quality + 0.7 * random.normal(size=(2, PAIRED)) + np.array([[BIAS], [0.0]])
    if kind == "yes/no":
        return (quality > -0.6).astype(np.float64), (seen > -0.6).astype(np.float64)
    return np.clip(np.round(3.2 + quality), 1, 5), np.clip(np.round(3.4 + seen), 1, 5)


def by_student(differences: Array) -> tuple[float, float]:
    """The 95% interval of a mean."""
    middle, n = float(differences.mean()), len(differences)
    half = student(n - 1, 0.95) * float(differences.std(ddof=1)) / float(np.sqrt(n))
    return middle - half, middle + half


@click.command()
@click.option("--sets", default=2_000, show_default=True, help="Sets of each row and column.")
def main(sets: int) -> None:
    """Print coverage by the number of labels, and the share without an interval below 1."""
    table = Table("true mean and judge", *map(str, LABELS), title=f"{sets:,} sets of a cell")
    cells: dict[str, list[str]] = {}
    for coverage in calibrated(sets):
        none = f" ({coverage.none:.2f} none)" if coverage.none else ""
        held = f"{coverage.held:.3f} ±{coverage.width / 2:.2f}{none}" if coverage.none < 1 else "–"
        cells.setdefault(coverage.drawn, []).append(held)
    for title, row in cells.items():
        table.add_row(title, *row)
    Console(width=160).print(table)
    of_two = Table("difference of two equal systems", *map(str, COUNTS))
    for kind in ("1 to 5", "yes/no"):
        results = [differences(kind, labels, sets) for labels in COUNTS]
        for way in WAYS:
            rows = [by_way[way] for by_way in results]
            shown = [
                f"{entry.held:.3f} width {entry.width:.2f} ({entry.none:.2f} none)"
                for entry in rows
            ]
            of_two.add_row(rows[0].drawn, *shown)
    Console(width=160).print(of_two)


if __name__ == "__main__":
    main()
