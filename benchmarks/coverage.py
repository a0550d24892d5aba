"""How often intervals hold the true score, and how often they quarrel with the p-value.

    python -m benchmarks.coverage [--runs 2000] [--data FOLDER] [--only shares] [--seed 12345]

Samples are drawn with replacement from real texts, whose score is the true one, or from
distributions with a known mean (`benchmarks.coverage_cases`). `--runs 100` takes a few minutes on
two cores. "at least" is how often intervals should hold the true score, and "outside" marks where
they do so less often than chance explains. Where a share of the runs has no interval, "none" tells
how many; the coverage is that of the others. Under the null two systems' outputs are swapped at
random, so that neither is better. Intervals of agreement and of calibrated means are measured by
`benchmarks.coverage_agreement` and `benchmarks.coverage_calibrated`, bucket totals by
`benchmarks.bucket_totals`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import isnan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.coverage_cases import BOUND, ENDS, LABELS, TAILS, Case
from benchmarks.exact_texts import SHARED, Corpus, corpora
from metrichub import Hub
from metrichub.catalog.frontmatter import Scale
from metrichub.evaluation.resample import UnitCount, score_interval
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.significance import SignificanceOptions, compare_pairs, intervals
from metrichub.evaluation.stats import Stats

Array = NDArray[np.float64]
SIZES = (1, 3, 5, 8, 10, 20, 50, 200, 1000)
CLUSTERS = {5: 0.9, 8: 0.91, 10: 0.91, 30: BOUND, 100: BOUND}
"""How many there are, and what intervals of them hold at least."""
METRICS = ("bleu", "chrf", "rouge", "wer")
CORPUS, CORPUS_SIZES = ("cider", "nist"), (5, 10, 20, 50, 200)
"""Metrics whose resamples take longer than others', of a tenth of the runs."""
RATES = tuple(k / 100 for k in range(1, 100))
SEED, LEVEL, TRIALS = 12345, 0.95, 1000
IN_CLUSTER, SPREAD = 5, 0.2
"""Samples of a cluster, and the share of the variance that they have in common."""
SIGNATURE = Signature("benchmark", 1, "local:benchmarks", (), "first")
Row = list[str]


class Held(NamedTuple):
    """How many runs had an interval, and how many of these held the true value."""

    runs: int
    have: int
    held: int

    @classmethod
    def of(cls, held: list[bool | None]) -> Held:
        """The coverage over runs; None is a run without an interval."""
        decided = [flag for flag in held if flag is not None]
        return cls(len(held), len(decided), sum(decided))

    def cells(self, bound: float = BOUND) -> Row:
        """The coverage, the share of runs without an interval, and whether the bound is kept."""
        share = self.held / self.have if self.have else 1
        by_chance = 2.6 * sqrt(bound * (1 - bound) / max(self.have, 1))
        shown = f"{share:.3f}" if self.have else "–"
        missed = "outside" if share < bound - by_chance else ""
        return [shown, f"{1 - self.have / self.runs:.2f}", f"{bound:.2f}", missed]


def shares(_: int, __: Path, ___: int) -> Iterator[Row]:
    """Wilson's intervals, by all counts that can come out: nothing is drawn."""
    scale = Scale(0, 1, "higher", share=True)
    for size in SIZES:
        ends = [
            score_interval(np.full(1, k / size), k / size, UnitCount(size, size), scale, LEVEL)
            for k in range(size + 1)
        ]
        results = []
        for rate in RATES:
            chances = _binomial(size, rate)
            held = (interval.low - 1e-12 <= rate <= interval.high + 1e-12 for interval in ends)
            results.append(sum(p for p, inside in zip(chances, held, strict=True) if inside))
        yield ["exact match", str(size), f"{np.mean(results):.3f}", f"{min(results):.3f}", "0.00"]


def _binomial(size: int, rate: float) -> Array:
    """The chances of all counts, by their logarithms."""
    k = np.arange(size + 1)
    steps = np.log(np.arange(1, size + 1))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    log = logs[-1] - logs[k] - logs[::-1][k] + k * np.log(rate) + (size - k) * np.log(1 - rate)
    return np.asarray(np.exp(log))


def scores(runs: int, data: Path, seed: int) -> Iterator[Row]:
    """Metrics of real texts, each sample a unit."""
    results = _results(data)
    true = {name: result.scores() for name, result in results.items()}
    for size in SIZES:
        random = np.random.default_rng([seed, size])
        actual: dict[str, list[bool | None]] = {name: [] for name in results}
        for _ in range(runs):
            index = random.integers(0, _size_of(results), size)
            drawn = {name: _taken(result, index) for name, result in results.items()}
            bounds = intervals(drawn, lambda r: Units(r.count), LEVEL, 1000, _seed(random))
            for name, outputs in bounds.items():
                output = next(iter(outputs))
                low, high = outputs[output].ends
                actual[name].append(None if isnan(low) else low <= true[name][output] <= high)
        for name, held in actual.items():
            yield [name, str(size), *Held.of(held).cells(0.92 if size < 20 else BOUND)]


def corpus(runs: int, data: Path, seed: int) -> Iterator[Row]:
    """Metrics that conclude from all samples together, of real texts."""
    texts = corpora(data)[0]
    cases = []
    for name in CORPUS:
        true = Hub(name)(predictions=texts.predictions, references=texts.references)[name]
        draw = partial(_drawn_texts, texts)
        cases.append(Case(name, name, CORPUS_SIZES, draw, {"score": float(true["score"])}))
    return _cases(cases, max(20, runs // 10), data, seed)


def _drawn_texts(texts: Corpus, random: np.random.Generator, size: int) -> dict[str, list[Any]]:
    index = random.integers(0, len(texts.predictions), size).tolist()
    return {
        "predictions": [texts.predictions[i] for i in index],
        "references": [texts.references[i] for i in index],
    }


def _cases(cases: Sequence[Case], runs: int, _: Path, seed: int) -> Iterator[Row]:
    """The table of samples from distributions, all sizes of all cases side by side."""
    with ProcessPoolExecutor() as pool:
        results = [
            (c, size, pool.submit(c.held, size, runs, seed)) for c in cases for size in c.sizes
        ]
        for case, size, held_of in results:
            for output, held in held_of.result().items():
                name = case.of if len(case.true) == 1 else f"{output}, {case.of}"
                yield [name, str(size), *Held.of(held).cells(case.bounds.get(size, BOUND))]


def differences(runs: int, data: Path, seed: int) -> Iterator[Row]:
    """Two systems under the null: neither is better, since their outputs were swapped at random."""
    first, other = (_results(data, system) for system in (0, 1))
    for size in SIZES:
        random = np.random.default_rng([seed, size, 2])
        counts: dict[str, Counter[str]] = {name: Counter() for name in first}
        for _ in range(runs):
            for name in first:
                _tally(counts[name], name, first[name], other[name], size, random)
        for name, count in counts.items():
            have = count["interval"]
            shown = [
                f"{count['apart'] / have:.3f}" if have else "–",
                f"{count['significant'] / runs:.3f}",
                f"{count['disagree'] / have:.3f}" if have else "–",
                f"{1 - have / runs:.2f}",
            ]
            yield [name, str(size), *shown]


def _tally(
    count: Counter[str],
    name: str,
    result: SumResult,
    other: SumResult,
    size: int,
    random: np.random.Generator,
) -> None:
    """One run: whether the interval leaves out 0, p is at most .05, and whether these disagree."""
    assert result.rows is not None
    assert other.rows is not None
    index = random.integers(0, len(result.rows), size)
    both = Stats.concatenate([result.rows.take(index), other.rows.take(index)])
    swapped = random.integers(0, 2, size)
    first = np.arange(size) + size * swapped
    second = np.arange(size) + size * (1 - swapped)
    mine, theirs = (SumResult.of(result.metric, SIGNATURE, both.take(i)) for i in (first, second))
    options = SignificanceOptions(LEVEL, 1000, TRIALS, _seed(random))
    pairs = {("A", "B"): ({name: mine}, {name: theirs})}
    compared = compare_pairs(pairs, lambda r: Units(r.count), size, options).compared
    test = next(iter(compared["A", "B"][name].values()))
    low, high = test.interval.ends
    significant = test.randomization_p <= 1 - LEVEL
    count["significant"] += significant
    if not isnan(low):
        apart = low > 0 or high < 0
        count["interval"] += 1
        count["apart"] += apart
        count["disagree"] += apart != significant


def clusters(runs: int, _: Path, seed: int) -> Iterator[Row]:
    """Means and shares of samples in clusters that have part of their variance in common."""
    for rate in (0.5, 0.9):
        for share in (True, False):
            for number in CLUSTERS:
                random = np.random.default_rng([seed, number, share, int(100 * rate)])
                draw = partial(_clustered, random, number, rate, share)
                kind = f"share of {rate:g}" if share else f"mean of {rate:g}"
                held = Held.of([draw() for _ in range(runs)])
                yield [kind, str(number), *held.cells(CLUSTERS[number])]


def _clustered(random: np.random.Generator, number: int, rate: float, share: bool) -> bool | None:
    """Whether the interval holds the rate; clusters have rates of their own around it."""
    spread = 1 / SPREAD - 1
    rates = random.beta(rate * spread, (1 - rate) * spread, number)
    values = rates[:, None] * np.ones(IN_CLUSTER)
    if share:
        values = (random.random((number, IN_CLUSTER)) < rates[:, None]).astype(float)
    sums = values.sum(axis=1)
    index = random.integers(0, number, (1000, number))
    drawn = sums[index].sum(axis=1) / (number * IN_CLUSTER)
    units = UnitCount(number, number * IN_CLUSTER, "cluster")
    scale = Scale(0, 1, "higher", share=share)
    low, high = score_interval(drawn, float(values.mean()), units, scale, LEVEL).ends
    return None if isnan(low) else low <= rate <= high


def _results(data: Path, system: int = 0) -> dict[str, SumResult]:
    """The results on real texts, or on the same with every seventh word left out."""
    corpus = corpora(data)[0]
    predictions = corpus.predictions
    if system:
        split = (text.split() for text in predictions)
        predictions = [" ".join(w for k, w in enumerate(words) if k % 7 != 3) for words in split]
    report = Hub(list(METRICS)).evaluate(predictions=predictions, references=corpus.references)
    actual: dict[str, SumResult] = {}
    for name, result in report.results.items():
        assert isinstance(result, SumResult)
        actual[name] = result
    return actual


def _size_of(results: dict[str, SumResult]) -> int:
    rows = next(iter(results.values())).rows
    assert rows is not None
    return len(rows)


def _taken(result: SumResult, index: NDArray[np.int64]) -> SumResult:
    assert result.rows is not None
    return SumResult.of(result.metric, SIGNATURE, result.rows.take(index))


def _seed(random: np.random.Generator) -> int:
    return int(random.integers(2**31))


HEAD = ["of", "n", "held", "none", "at least", ""]
PARTS: dict[str, tuple[Callable[[int, Path, int], Iterator[Row]], Row]] = {
    "shares": (shares, ["of", "n", "mean over rates", "least of all rates", "none"]),
    "scores": (scores, HEAD),
    "corpus": (corpus, HEAD),
    "labels": (partial(_cases, LABELS), HEAD),
    "ends": (partial(_cases, ENDS), HEAD),
    "tails": (partial(_cases, TAILS), HEAD),
    "differences": (differences, ["of", "n", "leaves out 0", "p ≤ .05", "disagree", "none"]),
    "clusters": (clusters, ["of", "clusters", *HEAD[2:]]),
}


@click.command()
@click.option("--runs", default=2000, show_default=True)
@click.option("--data", default=SHARED, show_default=True, type=click.Path(path_type=Path))
@click.option("--only", type=click.Choice(list(PARTS)), multiple=True)
@click.option("--seed", default=SEED, show_default=True)
def main(runs: int, data: Path, only: tuple[str, ...], seed: int) -> None:
    """Print the coverage of every kind of interval."""
    for name in only or PARTS:
        rows, head = PARTS[name]
        table = Table(*head, title=f"{name}, {runs:,} runs")
        for row in rows(runs, data, seed):
            table.add_row(*row)
        Console(width=100).print(table)


if __name__ == "__main__":
    main()
