"""Significance: bootstrap intervals and paired tests of the results of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation import resample
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.result import Outputs, Result


class Comparison(NamedTuple):
    """One output of two systems on the same samples.

    `difference` is this system's score minus the other's, `interval` its paired bootstrap
    interval. `bootstrap_p` is sacrebleu's, `randomisation_p` two-sided.
    """

    score: float
    other: float
    difference: float
    interval: Interval
    bootstrap_p: float
    randomisation_p: float


def intervals(
    results: Mapping[str, Result], size: int, level: float, resamples: int, seed: int
) -> dict[str, dict[str, Interval]]:
    """The bootstrap interval of every output; see `Report.intervals`."""
    resample.check_level(level)
    drawn = _resampled(results, size, resamples, seed)
    return {
        metric: {name: resample.interval(values, level) for name, values in outputs.items()}
        for metric, outputs in drawn.items()
    }


def compare_outputs(
    mine: Mapping[str, Result],
    theirs: Mapping[str, Result],
    size: int,
    level: float,
    resamples: int,
    trials: int,
    seed: int,
) -> dict[str, dict[str, Comparison]]:
    """The paired tests of every output of the same metrics; see `Report.compare`."""
    resample.check_level(level)
    here = _resampled(mine, size, resamples, seed)
    there = _resampled(theirs, size, resamples, seed)
    swapped = _swap_differences(mine, theirs, size, trials, seed)
    compared: dict[str, dict[str, Comparison]] = {}
    for metric in mine:
        a, b = mine[metric].scores(), theirs[metric].scores()
        compared[metric] = {}
        for name in a:
            differences = _minus(here[metric][name], there[metric][name])
            compared[metric][name] = Comparison(
                a[name],
                b[name],
                a[name] - b[name],
                resample.interval(differences, level),
                resample.bootstrap_p(differences, a[name] - b[name]),
                resample.randomisation_p(swapped[metric][name], a[name] - b[name]),
            )
    return compared


def _resampled(
    results: Mapping[str, Result], size: int, resamples: int, seed: int
) -> dict[str, Outputs]:
    if not size:
        return {
            name: {output: np.full(resamples, np.nan) for output in result.scores()}
            for name, result in results.items()
        }
    blocks: Iterator[dict[str, Outputs]] = (
        {name: result.resampled(draw) for name, result in results.items()}
        for draw in resample.draws(size, resamples, seed)
    )
    return _joined_outputs(list(blocks))


def _swap_differences(
    mine: Mapping[str, Result], theirs: Mapping[str, Result], size: int, trials: int, seed: int
) -> dict[str, Outputs]:
    if not size:
        return {
            name: {output: np.full(trials, np.nan) for output in result.scores()}
            for name, result in mine.items()
        }

    swaps = {name: result.against(theirs[name]) for name, result in mine.items()}

    def differences(name: str, mask: NDArray[np.bool_]) -> Outputs:
        a, b = swaps[name](mask)
        return {output: _minus(a[output], b[output]) for output in a}

    blocks = [
        {name: differences(name, mask) for name in mine}
        for mask in resample.swaps(size, trials, seed)
    ]
    return _joined_outputs(blocks)


def _minus(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """One score minus the other; two that are both infinite have no difference."""
    with np.errstate(invalid="ignore"):
        return one - other


def _joined_outputs(blocks: Sequence[dict[str, Outputs]]) -> dict[str, Outputs]:
    return {
        name: {o: np.concatenate([block[name][o] for block in blocks]) for o in outputs}
        for name, outputs in blocks[0].items()
    }
