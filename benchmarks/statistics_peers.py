"""Paired tests beside evalstats and evalconfidence: the same scores, one process, their defaults.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.statistics_peers [--runs 400] [--only shares]

Needs `pip install evalstats evalconfidence`; one that isn't installed is left out. Each gets two
arrays of scores by its main call: `Report.compare`, `evalstats.compare`, `evalconfidence.compare`.
Two systems share how hard a sample is, and their true difference is known. "false pos." counts p of
at most .05 where it is 0, "power" where it isn't. "coverage" counts the intervals that hold it, and
"width" is their mean: where it isn't 0, or where it always is; where there is no interval, it holds
nothing. "speed" is processor time from the arrays to p and interval, the fastest of some runs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from math import isnan, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.split import load
from metrichub import Hub, Report

Array = NDArray[np.float64]
SHARED, OF_DOCUMENT, OWN_OF_DOCUMENT = 7 / 3, 0.5, 0.2
"""Variances: how hard a sample is, and a document, and a document for one of the systems; that of
an answer is 1, so that the latent values of two systems correlate by .7."""


class Cell(NamedTuple):
    """One kind of data: two systems' true scores, and how they are drawn.

    An answer is right or wrong; a sample's score is the share of its `answers` that are right.
    Samples may be parts of `documents`, as many of each. `disasters` are the shares of samples in
    which the first and the second system loses 1.5 beyond some noise; scores are errors then.
    """

    of: str
    samples: int
    score: float
    other: float
    answers: int = 1
    documents: int = 0
    disasters: tuple[float, float] | None = None

    @property
    def size(self) -> str:
        """How many samples, of how many documents."""
        if self.documents:
            return f"{self.samples} of {self.documents} documents"
        return f"{self.samples}"

    @property
    def document(self) -> NDArray[np.int64]:
        """The number of each sample's document, (N,)."""
        return np.arange(self.samples) * self.documents // self.samples

    @property
    def spec(self) -> str:
        """How metrichub is told of the numbers."""
        if self.disasters is not None:
            return "recorded(better='lower', range=(0, None))"
        share = self.answers == 1
        return f"recorded(better='higher', range=(0, 1), share={share})"

    def drawn(self, random: np.random.Generator, equal: bool) -> tuple[Array, Array]:
        """The scores of both systems, (N,) each; equal systems have the first's true score."""
        rates = self.score, self.score if equal else self.other
        if self.disasters is not None:
            return self._errors(random, rates)
        hard = random.normal(0, sqrt(SHARED), self.samples)
        variance = SHARED
        if self.documents:
            hard += random.normal(0, sqrt(OF_DOCUMENT), self.documents)[self.document]
            variance += OF_DOCUMENT + OWN_OF_DOCUMENT
        scores = []
        for rate in rates:
            latent = hard + NormalDist().inv_cdf(rate) * sqrt(1 + variance)
            if self.documents:
                values = random.normal(0, sqrt(OWN_OF_DOCUMENT), self.documents)
                latent = latent + values[self.document]
            answers = random.normal(size=(self.samples, self.answers)) < latent[:, None]
            scores.append(answers.mean(axis=1))
        return scores[0], scores[1]

    def _errors(
        self, random: np.random.Generator, rates: tuple[float, float]
    ) -> tuple[Array, Array]:
        """Errors of such means: gamma noise, and a disaster here and there."""
        assert self.disasters is not None
        hard = random.gamma(4, 1 / 4, self.samples)
        scores = []
        for rate, often in zip(rates, self.disasters, strict=True):
            usual = (rate - 1.5 * often) * hard * random.gamma(4, 1 / 4, self.samples)
            scores.append(usual + 1.5 * (random.random(self.samples) < often))
        return scores[0], scores[1]


SHARES = [
    Cell("share", 20, 0.5, 0.2),
    Cell("share", 20, 0.9, 0.6),
    Cell("share", 20, 0.97, 0.65),
    Cell("share", 50, 0.5, 0.3),
    Cell("share", 50, 0.9, 0.73),
    Cell("share", 50, 0.97, 0.82),
    Cell("share", 500, 0.5, 0.44),
    Cell("share", 500, 0.9, 0.86),
    Cell("share", 500, 0.97, 0.945),
]
MEANS = [
    Cell("mean", 20, 0.5, 0.42, answers=20),
    Cell("mean", 50, 0.5, 0.45, answers=20),
    Cell("mean", 20, 0.05, 0.02, answers=20),
    Cell("mean", 50, 0.05, 0.03, answers=20),
    Cell("mean", 500, 0.05, 0.043, answers=20),
]
SKEWED = [
    Cell("error, 4% disasters", 50, 0.2, 0.35, disasters=(0.04, 0.04)),
    Cell("error, 4% disasters", 500, 0.2, 0.25, disasters=(0.04, 0.04)),
    Cell("error, 4% in one", 20, 0.2, 0.2, disasters=(0.04, 0)),
    Cell("error, 4% in one", 50, 0.2, 0.2, disasters=(0.04, 0)),
    Cell("error, 4% in one", 500, 0.2, 0.2, disasters=(0.04, 0)),
]
CLUSTERS = [
    Cell("share", 100, 0.7, 0.5, documents=10),
    Cell("mean", 100, 0.5, 0.37, answers=20, documents=10),
    Cell("share", 100, 0.7, 0.5, documents=20),
    Cell("mean", 100, 0.5, 0.37, answers=20, documents=20),
]
CELLS = {"shares": SHARES, "means": MEANS, "skewed": SKEWED, "clusters": CLUSTERS}


class Test(NamedTuple):
    """A package's test of the difference of two systems."""

    p: float
    low: float
    high: float


Tool = Callable[[Array, Array, Cell], Test]
LEAST = 15
"""Items that evalstats takes at least."""


def reports(a: Array, b: Array, cell: Cell) -> tuple[Report, Report]:
    """The reports of scores that stand in a column."""
    hub = Hub(cell.spec)
    doc = {"doc": cell.document.tolist()} if cell.documents else {}
    first, second = (hub.evaluate({"score": scores.tolist(), **doc}) for scores in (a, b))
    return first, second


def compared(first: Report, second: Report, cell: Cell) -> Test:
    """By `Report.compare`; the documents are clusters."""
    cluster = "doc" if cell.documents else None
    comparison = first.compare(second, cluster=cluster)["recorded"]["score"]
    return Test(comparison.p, comparison.interval.low, comparison.interval.high)


def ours(a: Array, b: Array, cell: Cell) -> Test:
    """From arrays to reports to the test."""
    return compared(*reports(a, b, cell), cell)


def of_evalstats(a: Array, b: Array, cell: Cell, by_document: bool = False) -> Test:
    """By `evalstats.compare`; by document, the items are documents and the runs their samples."""
    import evalstats

    data: object = {"A": a, "B": b}
    if by_document:
        data = [
            {"model": name, "item": item, "run": run, "score": float(score)}
            for name, scores in (("A", a), ("B", b))
            for item, run, score in zip(*_places(cell), scores, strict=True)
        ]
    result = evalstats.compare(data, factors="model").pairwise.get("A", "B")
    return Test(result.p_value, result.ci_low, result.ci_high)


def of_evalconfidence(a: Array, b: Array, cell: Cell, by_document: bool = False) -> Test:
    """By `evalconfidence.compare`; by document, the items are documents, the epochs samples."""
    from evalconfidence import ItemResult, compare

    items, epochs = _places(cell) if by_document else (range(cell.samples), [0] * cell.samples)
    # Where there are documents, its `compare` is told of them as clusters.
    documents = cell.document.tolist() if cell.documents else [None] * cell.samples
    first, second = (
        [
            ItemResult(f"{item}", name, float(score), epoch=epoch, cluster_id=document)
            for item, epoch, document, score in zip(items, epochs, documents, scores, strict=True)
        ]
        for name, scores in (("A", a), ("B", b))
    )
    comparison = compare(first, second)
    return Test(comparison.p_value, *comparison.ci_diff)


def _places(cell: Cell) -> tuple[list[int], list[int]]:
    """The document of every sample, and its place in it."""
    each = cell.samples // cell.documents
    return cell.document.tolist(), (np.arange(cell.samples) % each).tolist()


def tools(cell: Cell | None = None) -> dict[str, Tool]:
    """The installed packages, and those that take such data, by their names in a row."""
    tools: dict[str, Tool] = {"metrichub": ours}
    peers = {"evalstats": of_evalstats, "evalconfidence": of_evalconfidence}
    for name, tool in peers.items():
        if find_spec(name) is None:
            continue
        tools[name] = tool
        if cell and cell.documents and (name != "evalstats" or cell.documents >= LEAST):
            tools[f"{name}, documents as items"] = partial(tool, by_document=True)
    return tools


def measured(cell: Cell, runs: int) -> Iterator[list[str]]:
    """A row for each package: false positives, power, coverage and width."""
    random = np.random.default_rng([cell.samples, cell.documents, round(cell.score * 1000)])
    tested, differ = tools(cell), cell.score != cell.other
    tests: dict[tuple[str, bool], list[Test]] = {}
    for equal in (True, False) if differ else (True,):
        for _ in range(runs):
            a, b = cell.drawn(random, equal)
            for name, tool in tested.items():
                tests.setdefault((name, equal), []).append(tool(a, b, cell))
    truth = cell.score - cell.other
    start = [cell.of, f"{cell.score:g}, {cell.other:g}", cell.size]
    for name in tested:
        p, low, high = np.array(tests[name, not differ]).T
        wrong = np.mean([test.p <= 0.05 for test in tests[name, True]])
        holds = np.mean((low <= truth + 1e-9) & (truth <= high + 1e-9))
        numbers = [wrong, np.mean(p <= 0.05) if differ else nan, holds, np.nanmean(high - low)]
        yield [*start, name, *("–" if isnan(number) else f"{number:.3f}" for number in numbers)]
        start = ["", "", ""]


def speed(repeats: int) -> Table:
    """The fastest of some runs of each package, for shares."""
    sizes = (100, 10_000)
    table = Table(
        *("package", *(f"{size:,} samples, ms" for size in sizes)),
        title=f"speed of a test of shares, {repeats} repeats, {load()}",
    )
    fastest: dict[str, list[float]] = {}
    for size in sizes:
        cell = Cell("share", size, 0.8, 0.78)
        a, b = cell.drawn(np.random.default_rng(size), equal=False)
        calls = {name: partial(tool, a, b, cell) for name, tool in tools().items()}
        calls["metrichub, of reports"] = partial(compared, *reports(a, b, cell), cell)
        seconds: dict[str, list[float]] = {}
        for _ in range(repeats):
            for name, call in calls.items():
                start = time.process_time()
                call()
                seconds.setdefault(name, []).append(time.process_time() - start)
        for name, taken in seconds.items():
            fastest.setdefault(name, []).append(min(taken) * 1000)
    for name, taken in fastest.items():
        table.add_row(name, *(f"{duration:.1f}" for duration in taken))
    return table


@click.command()
@click.option("--runs", default=400, show_default=True, help="Runs of equal systems, and others.")
@click.option("--only", type=click.Choice([*CELLS, "speed"]), multiple=True)
@click.option("--repeats", default=9, show_default=True, help="Runs of which the fastest counts.")
def main(runs: int, only: tuple[str, ...], repeats: int) -> None:
    """Print a table of each kind of data, and one of speed."""
    warnings.simplefilter("ignore")
    console = Console(width=120)
    packages = ("metrichub", "evalstats", "evalconfidence")
    for name in packages:
        installed = find_spec(name) is not None
        text = version(name) if installed else f"isn't installed: pip install {name}"
        console.print(f"{name} {text}")
    head = ("of", "true", "samples", "package", "false pos.", "power", "coverage", "width")
    for part, cells in CELLS.items():
        if only and part not in only:
            continue
        table = Table(*head, title=f"{part}, {runs} runs")
        for cell in cells:
            for row in measured(cell, runs):
                table.add_row(*row)
            table.add_section()
        console.print(table)
    if not only or "speed" in only:
        console.print(speed(repeats))


if __name__ == "__main__":
    main()
