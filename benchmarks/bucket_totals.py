"""Intervals and paired tests of bucket totals beside those of samples, on simulated systems.

    python -m benchmarks.bucket_totals [--samples 2000] [--sets 300] [--seed 1]

A metric is a ratio of sums, such as BLEU's precision; samples differ in length and in difficulty,
and two systems that do the same samples share the difficulty. For every way of drawing it prints:
the mean width of intervals at 95% and how often they hold the true score; how often the paired
randomization test calls two equal systems different at .05 (the size of the test), and how often it
finds a difference that is there (its power). Sets are drawn anew for each row of numbers from one
seed, the same for all ways.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub.evaluation.draws import Products, draws, swaps
from metrichub.evaluation.resample import (
    SEED,
    UnitCount,
    randomization_p,
    score_interval,
)
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.stats import BucketSums, Stats
from metrichub.metric import Array, Metric, Scores

GAIN = 0.012
"""By how much more of a text the better system is right, where there is a difference."""
WAYS: Mapping[str, int | None] = {"samples": None, "1000 buckets": 1000, "200 buckets": 200}
SIGNATURE = Signature("share", 1, "local:benchmarks", (), "first")


@dataclass(frozen=True, kw_only=True)
class Share(Metric):
    """Words that are right, over all words."""

    def observe(self, prediction: str) -> Mapping[str, float]:
        """Nothing is read here: the simulation draws the statistics."""
        raise NotImplementedError("the simulation draws what other metrics observe")

    def score(self, right: Array, words: Array) -> Scores:
        """The share of all words."""
        return {"score": right / words}


class Found(NamedTuple):
    """The results of one way over all sets."""

    widths: list[float]
    covered: list[bool]
    false: list[bool]
    true: list[bool]


@click.command()
@click.option("--samples", default=2_000, show_default=True, help="Samples of a set.")
@click.option("--sets", default=300, show_default=True, help="Simulated sets.")
@click.option("--resamples", default=1_000, show_default=True, help="Draws and swaps of each.")
@click.option("--seed", default=1, show_default=True)
def main(samples: int, sets: int, resamples: int, seed: int) -> None:
    """Print one row a way of drawing."""
    result = simulate(samples, sets, resamples, seed)
    table = Table(
        *("drawn", "width", "± sd", "holds the truth", "size at .05", "power"),
        title=f"{sets} sets of {samples} samples, {resamples} resamples and swaps, seed {seed}",
    )
    for way, of in result.items():
        shares = (f"{100 * np.mean(values):.1f}%" for values in (of.covered, of.false, of.true))
        table.add_row(way, f"{np.mean(of.widths):.4f}", f"{np.std(of.widths):.4f}", *shares)
    Console(width=100).print(table)


def simulate(samples: int, sets: int, resamples: int, seed: int) -> dict[str, Found]:
    """The results of every way on the same sets."""
    generator = np.random.default_rng(seed)
    truth = _truth(np.random.default_rng(seed + 1))
    result = {way: Found([], [], [], []) for way in WAYS}
    for _ in range(sets):
        words, ease = _texts(generator, samples)
        first, same, better = (_system(generator, words, ease, gain) for gain in (0.0, 0.0, GAIN))
        # A key's hash: any place is as likely as any other, and the same for all systems.
        place = generator.integers(0, 1000, samples)
        for way, buckets in WAYS.items():
            summed = [_result(stats, place, buckets) for stats in (first, same, better)]
            units = _units(place, buckets, samples)
            of = result[way]
            seen = UnitCount(units.number, samples, "bucket" if buckets else "sample")
            score = summed[0].scores()["score"]
            drawn = score_interval(_drawn(summed[0], units, resamples), score, seen, None, 0.95)
            of.widths.append(drawn.high - drawn.low)
            of.covered.append(drawn.low <= truth <= drawn.high)
            of.false.append(_p(summed[0], summed[1], units, resamples) <= 0.05)
            of.true.append(_p(summed[0], summed[2], units, resamples) <= 0.05)
    return result


def _texts(
    generator: np.random.Generator, samples: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The words of every text, and how easy it is: long texts are harder."""
    words = generator.poisson(generator.gamma(4, 6, samples)) + 1
    ease = generator.beta(3, 4, samples) * (1 - np.minimum(words, 80) / 400)
    return words, ease


def _system(
    generator: np.random.Generator,
    words: NDArray[np.int64],
    ease: NDArray[np.float64],
    gain: float,
) -> Stats:
    """A system's right words, around what a text makes easy."""
    chance = np.clip(ease + generator.normal(0, 0.08, len(words)) + gain, 0, 1)
    return Stats.of({"right": generator.binomial(words, chance), "words": words}, len(words))


def _truth(generator: np.random.Generator) -> float:
    words, ease = _texts(generator, 2_000_000)
    stats = _system(generator, words, ease, 0.0).totals()
    return float(stats["right"] / stats["words"])


def _result(stats: Stats, place: NDArray[np.int64], buckets: int | None) -> SumResult:
    result = SumResult.of(Share(), SIGNATURE, stats)
    if buckets is None:
        return result
    sums = stats.grouped(place % buckets, buckets)
    without_positions = BucketSums(sums.arrays, sums.counts, by_position=False)
    head = (result.metric, SIGNATURE, result.count, 0, Counter[str](), Counter[str]())
    return SumResult(*head, None, result.totals, without_positions)


def _units(place: NDArray[np.int64], buckets: int | None, samples: int) -> Units:
    if buckets is None:
        return Units(samples)
    filled = np.unique(place % buckets)
    return Units(len(filled), filled=filled)


def _drawn(result: SumResult, units: Units, resamples: int) -> NDArray[np.float64]:
    resampler = result.resampler(units)
    products_with = Products([resampler.columns])
    blocks = [
        resampler.drawn(draw.weights, *products_with(draw.weights))["score"]
        for draw in draws(units.number, resamples, SEED)
    ]
    return np.concatenate(blocks)


def _p(first: SumResult, other: SumResult, units: Units, trials: int) -> float:
    resampler, its_resampler = first.resampler(units), other.resampler(units)
    swap = resampler.against(its_resampler)
    products_with = Products([resampler.columns - its_resampler.columns])
    results = []
    for mask in swaps(units.number, trials, SEED):
        mine, its = swap(mask, *products_with(mask))
        results.append(mine["score"] - its["score"])
    observed = first.scores()["score"] - other.scores()["score"]
    return randomization_p(np.concatenate(results), observed)


if __name__ == "__main__":
    main()
