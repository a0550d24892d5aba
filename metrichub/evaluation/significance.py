"""Significance: bootstrap intervals and paired tests of the results of a report."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation import resample
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.result import Outputs, Result

K = TypeVar("K", bound=Hashable)
Results = Mapping[str, Result]
Pair = tuple[str, str]
"""A system, and the one that it is compared with."""


class Comparison(NamedTuple):
    """One output of two systems on the same samples.

    `difference` is this system's score minus the other's, `interval` its paired bootstrap
    interval. All are those of the `samples` that both systems have scores of; `left_out` are the
    others.

    `randomisation_p` is the p-value of two-sided approximate randomisation; `p` is the same after
    Holm's correction over the pairs of systems and the headline outputs of the metric, `nan` for
    other outputs. `sacrebleu_bootstrap_p` is sacrebleu's p-value of the paired bootstrap, which
    calls too many differences significant.

    `rank` and `other_rank` are the systems' ranks among all that were compared, 1 for the best:
    a system is ranked below others only if each of them beats it. They are None for outputs that
    aren't headlines or of which neither more nor less is better, and where `withheld` says why
    neither system can be called better. `sentence` says the result in words.
    """

    score: float
    other: float
    difference: float
    interval: Interval
    p: float
    randomisation_p: float
    sacrebleu_bootstrap_p: float
    samples: int
    left_out: int
    withheld: str | None
    rank: int | None
    other_rank: int | None
    sentence: str | None


Comparisons = dict[str, dict[str, Comparison]]
"""Metric -> output -> `Comparison`."""


class SignificanceOptions(NamedTuple):
    """How intervals and tests are made; see `Report.compare`. Without resamples, no intervals."""

    level: float = 0.95
    resamples: int = 1000
    trials: int = 10_000
    seed: int = resample.SEED


def intervals(
    results: Results, size: int, level: float, resamples: int, seed: int
) -> dict[str, dict[str, Interval]]:
    """The bootstrap interval of every output; see `Report.intervals`."""
    resample.check_level(level)
    drawn = _resampled(results, size, resamples, seed)
    return {
        metric: {name: resample.interval(values, level) for name, values in outputs.items()}
        for metric, outputs in drawn.items()
    }


def compare_pairs(
    pairs: Mapping[Pair, tuple[Results, Results]], size: int, options: SignificanceOptions
) -> dict[Pair, Comparisons]:
    """The paired tests of every output that both systems of each pair have, yet without ranks."""
    resample.check_level(options.level)
    tests = {
        (pair, name): _Test.of(pair, mine[name], theirs[name], size)
        for pair, (mine, theirs) in pairs.items()
        for name in mine
        if name in theirs
    }
    swapped = _swap_differences(tests, size, options)
    drawn: dict[int, Outputs] = {}
    if options.resamples:
        # A system of several pairs is drawn once: its result is the same object in each.
        results = {id(r): r for test in tests.values() for r in (test.mine, test.theirs)}
        drawn = _resampled(results, size, options.resamples, options.seed)
    compared: dict[Pair, Comparisons] = {pair: {} for pair in pairs}
    for (pair, name), test in tests.items():
        compared[pair][name] = test.compared(drawn, swapped[pair, name], size, options.level)
    return compared


class _Test(NamedTuple):
    """A metric's results of two systems, over the samples that both have scores of."""

    mine: Result
    theirs: Result
    samples: int
    withheld: str | None

    @classmethod
    def of(cls, names: Pair, mine: Result, theirs: Result, size: int) -> _Test:
        reason = withheld({names[1]: theirs, names[0]: mine})
        if not size:
            return cls(mine, theirs, 0, reason)
        common = mine.scored() & theirs.scored()
        return cls(_only(mine, common), _only(theirs, common), int(common.sum()), reason)

    def compared(
        self, drawn: Mapping[int, Outputs], swapped: Outputs, size: int, level: float
    ) -> dict[str, Comparison]:
        """What the draws and swaps say of every output."""
        a, b = self.mine.scores(), self.theirs.scores()
        found = {}
        for name in a:
            difference = a[name] - b[name]
            differences = np.full(1, np.nan)
            if drawn:
                differences = _minus(drawn[id(self.mine)][name], drawn[id(self.theirs)][name])
            found[name] = Comparison(
                a[name],
                b[name],
                difference,
                resample.interval(differences, level),
                float("nan"),
                resample.randomisation_p(swapped[name], difference),
                resample.bootstrap_p(differences, difference),
                self.samples,
                size - self.samples,
                self.withheld,
                None,
                None,
                None,
            )
        return found


def withheld(systems: Results) -> str | None:
    """Why none of the systems can be called better: they left different samples unanswered."""
    counts = {name: result.unanswered.total() for name, result in systems.items()}
    first, *others = systems.values()
    if len(set(counts.values())) == 1:
        pooled = any(result.pooled for result in systems.values())
        if pooled or not any(counts.values()):
            return None
        if all((first.scored() == other.scored()).all() for other in others):
            return None
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"the systems left different samples unanswered ({told})"


def _only(result: Result, common: NDArray[np.bool_]) -> Result:
    """The result over the samples that both systems have scores of."""
    return result if (common == result.scored()).all() else result.only(common)


def _resampled(
    results: Mapping[K, Result], size: int, resamples: int, seed: int
) -> dict[K, Outputs]:
    if not size:
        return {
            key: {output: np.full(resamples, np.nan) for output in result.scores()}
            for key, result in results.items()
        }
    resamplers = {key: result.resampler() for key, result in results.items()}
    blocks: Iterator[dict[K, Outputs]] = (
        {key: resampled(draw) for key, resampled in resamplers.items()}
        for draw in resample.draws(size, resamples, seed)
    )
    return _joined_outputs(list(blocks))


def _swap_differences(
    tests: Mapping[K, _Test], size: int, options: SignificanceOptions
) -> dict[K, Outputs]:
    if not size:
        return {
            key: {output: np.full(options.trials, np.nan) for output in test.mine.scores()}
            for key, test in tests.items()
        }
    swaps = {key: test.mine.against(test.theirs) for key, test in tests.items()}

    def differences(key: K, mask: NDArray[np.bool_]) -> Outputs:
        a, b = swaps[key](mask)
        return {output: _minus(a[output], b[output]) for output in a}

    return _joined_outputs(
        [
            {key: differences(key, mask) for key in tests}
            for mask in resample.swaps(size, options.trials, options.seed)
        ]
    )


def _minus(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """One score minus the other; two that are both infinite have no difference."""
    with np.errstate(invalid="ignore"):
        return one - other


def _joined_outputs(blocks: Sequence[dict[K, Outputs]]) -> dict[K, Outputs]:
    if not blocks:
        return {}
    return {
        key: {o: np.concatenate([block[key][o] for block in blocks]) for o in outputs}
        for key, outputs in blocks[0].items()
    }
