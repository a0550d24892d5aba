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
    interval. `bootstrap_p` is sacrebleu's, `randomisation_p` two-sided. All are those of the
    `samples` that both systems have scores of; `left_out` are the others. `withheld` says why
    neither system can be called better, if so.
    """

    score: float
    other: float
    difference: float
    interval: Interval
    bootstrap_p: float
    randomisation_p: float
    samples: int
    left_out: int
    withheld: str | None


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
    reasons = {name: withheld(mine[name], theirs[name]) for name in mine}
    common = {name: mine[name].scored() & theirs[name].scored() for name in mine} if size else {}
    mine = {name: _only(result, common) for name, result in mine.items()}
    theirs = {name: _only(result, common) for name, result in theirs.items()}
    here = _resampled(mine, size, resamples, seed)
    there = _resampled(theirs, size, resamples, seed)
    swapped = _swap_differences(mine, theirs, size, trials, seed)
    compared: dict[str, dict[str, Comparison]] = {}
    for metric in mine:
        a, b = mine[metric].scores(), theirs[metric].scores()
        samples = int(common[metric].sum()) if size else 0
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
                samples,
                size - samples,
                reasons[metric],
            )
    return compared


def withheld(mine: Result, theirs: Result) -> str | None:
    """Why neither can be called better: they left different samples unanswered."""
    here, there = mine.unanswered.total(), theirs.unanswered.total()
    pooled = mine.pooled or theirs.pooled
    if here == there and (not here or pooled or (mine.scored() == theirs.scored()).all()):
        return None
    return f"the systems left different samples unanswered ({here} and {there})"


def _only(result: Result, common: Mapping[str, NDArray[np.bool_]]) -> Result:
    """The result over the samples that both systems have scores of."""
    kept = common.get(result.metric.name)
    return result if kept is None or (kept == result.scored()).all() else result.only(kept)


def _resampled(
    results: Mapping[str, Result], size: int, resamples: int, seed: int
) -> dict[str, Outputs]:
    if not size:
        return {
            name: {output: np.full(resamples, np.nan) for output in result.scores()}
            for name, result in results.items()
        }
    resamplers = {name: result.resampler() for name, result in results.items()}
    blocks: Iterator[dict[str, Outputs]] = (
        {name: resampled(draw) for name, resampled in resamplers.items()}
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
