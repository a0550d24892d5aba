"""Significance: bootstrap intervals and paired tests of the results of a report."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, isfinite, isnan, nan, sqrt
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ParameterError
from metrichub.evaluation import resample
from metrichub.evaluation.buckets import BUCKETS
from metrichub.evaluation.distributions import mcnemar_mid_p, normal_score, t_tail
from metrichub.evaluation.draws import Products, draws, in_one_thread, swaps
from metrichub.evaluation.power import needed_units, se_of_shares
from metrichub.evaluation.resample import (
    NO_COPIES,
    NO_INTERVAL,
    Interval,
    Record,
    UnitCount,
    difference_interval,
    score_interval,
)
from metrichub.evaluation.resampling_units import Units
from metrichub.evaluation.result import Outputs, Result, Swap

K = TypeVar("K", bound=Hashable)
Results = Mapping[str, Result]
Pair = tuple[str, str]
"""A system, and the one that it is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison(Record):
    """One output of two systems on the same samples.

    `difference` is this system's score minus the other's, `interval` its interval, which reaches to
    0 at least where the randomization test isn't significant. All are those of the `samples` that
    both systems have scores of; `left_out` are the others.

    `randomization_p` is the p-value of this test alone; `p` is the same corrected over the pairs of
    systems and the headline outputs of the metric, by a step-down over their resamples or, without
    these, by Holm's method; it is `nan` for other outputs. `sacrebleu_bootstrap_p` is sacrebleu's
    p-value of the paired bootstrap, which is too small: at .05 it finds 11 to 20 false positives in
    100 comparisons of equal systems.

    `rank` and `other_rank` are the systems' ranks among all that were compared: one more than the
    systems that are significantly better. They are None for outputs that aren't headlines or of
    which neither more nor less is better, and where `withheld` says why neither system can be
    called better. `sentence` says the result in words, or why there is no p.

    `se` is the standard error of the difference, `units` are the samples, clusters or buckets that
    it is of, and `test` names the test: McNemar's mid-p of samples that are 0 or 1, which needs no
    trials, or approximate randomization. `differing` are the samples in which the two differ, for
    the mid-p. `shows` is the smallest true difference that would be significant, after the
    correction, in about 4 of 5 such comparisons; `nan` where that is unknown.

    A difference that is calibrated by people's labels is theirs, as far as these tell: `judged` is
    then the difference of the scores, `units` are samples with labels, `interval` and `p` are those
    of Student's t.
    """

    score: float
    other: float
    difference: float
    interval: Interval
    p: float = nan
    randomization_p: float
    sacrebleu_bootstrap_p: float
    samples: int
    left_out: int
    withheld: str | None = None
    rank: int | None = None
    other_rank: int | None = None
    sentence: str | None = None
    se: float = nan
    units: int = 0
    test: str = ""
    differing: int = 0
    shows: float = nan
    judged: float = nan

    def turned(self) -> Comparison:
        """The comparison of the other system with this one."""
        low, high = self.interval.ends
        interval = replace(self.interval, low=-high, high=-low, mean=-self.interval.mean)
        return replace(
            self,
            score=self.other,
            other=self.score,
            difference=-self.difference,
            interval=interval,
            rank=self.other_rank,
            other_rank=self.rank,
            judged=-self.judged,
        )

    def needed(self, difference: float, *, power: float = 0.8, confidence: float = 0.95) -> int:
        """How many units like these would show a true difference of this size.

        Units are samples, clusters or buckets, as many as `units` counts. "Show" is: significant
        at this confidence, alone, in the share `power` of cases. Choose the difference that matters
        to you; the one that was observed tells nothing more this way than p does.

        Raises:
            ParameterError: the difference isn't a number above 0, or nothing is known of its error.
        """
        if not (isfinite(difference) and difference > 0 and self.se > 0):
            allowed = "a number above 0, of an output whose difference varies"
            raise ParameterError(None, "difference", difference, allowed)
        return needed_units(self.se, self.units, difference, confidence, power)


Comparisons = dict[str, dict[str, Comparison]]
"""Metric -> output -> `Comparison`."""


def p_text(p: float, sign: str = "=") -> str:
    """A p-value as papers print it: "p = .003", "p < .001", "p = 1"; "–" for `nan`.

    It has three decimals, and a fourth where these would be on the other side of .05. Behind "≤"
    it is rounded up. With "" for the sign there is the number alone: ".003", "< .001".
    """
    if isnan(p):
        return "–"
    begin = "p " if sign else ""
    if p < 0.001:
        return f"{begin}< .001"
    shown = f"{ceil(p * 1000 - 1e-9) / 1000 if sign == '≤' else p:.3f}"
    if p > 0.05 >= float(shown):
        shown = f"{ceil(p * 10_000) / 10_000:.4f}"
    number = shown.removeprefix("0") if float(shown) < 1 else "1"
    return f"{begin}{sign} {number}".lstrip()


def is_significant(p: float, confidence: float) -> bool:
    """Whether a p-value is at most what the confidence of the intervals leaves; `nan` isn't."""
    return p <= 1 - confidence + 1e-12


def verdict_of(test: Comparison | None, better: str, confidence: float) -> str:
    """The verdict of a test on the first system of its pair, where higher or lower is better."""
    if test is None or (isnan(test.p) and not test.withheld):
        return "not tested"
    if test.withheld:
        return "no winner"
    if not is_significant(test.p, confidence):
        return "no significant difference"
    if better == "neither":
        return "different"
    return "better" if (test.difference > 0) == (better == "higher") else "worse"


def beats(tests: Mapping[Pair, Comparison], pair: Pair, better: str, confidence: float) -> bool:
    """Whether the first of a pair is significantly better, whichever was named first in a test."""
    if pair in tests:
        return verdict_of(tests[pair], better, confidence) == "better"
    return verdict_of(tests.get((pair[1], pair[0])), better, confidence) == "worse"


MID_P, RANDOMIZATION = "McNemar's mid-p", "approximate randomization"
_OTHERS = "the systems have scores of different samples, which weren't kept"
MOSTLY_UNREAD = "over half of the samples are unscored, as their letters are dropped"
TOO_SLOW = "a paired test would take too long, as each of its trials scores all samples anew"
HEADLINES_ONLY = "only headline outputs have a corrected p and ranks"
NOT_KEPT = "the metric needs all samples for this, and they weren't kept"


class SignificanceOptions(NamedTuple):
    """How intervals and tests are made; see `Report.compare`. Without resamples, no intervals.

    `cluster` names the column whose samples of one value are drawn and swapped together; "auto"
    does so with the answers to one question, None with no samples. `calibrate` names that of
    people's labels, which decide then.
    """

    confidence: float = 0.95
    resamples: int = 1000
    trials: int = 10_000
    seed: int = resample.SEED
    cluster: str | None = "auto"
    calibrate: str | None = None

    @property
    def threshold(self) -> str:
        """The largest p that is significant: ".05"."""
        return f"{1 - self.confidence:.10g}".removeprefix("0")

    def of_intervals(self) -> dict[str, Any]:
        """Those that `Report.intervals` takes."""
        of_tests = ("trials", "calibrate")
        return {name: value for name, value in self._asdict().items() if name not in of_tests}


_PRODUCT = 4_000_000
"""Numbers of a product of tosses that are there at a time."""

UnitsOf = Callable[[Result], Units]
"""From a result to the units that are drawn and swapped."""
_MANY = 20_000
"""From this many samples on, sums of buckets of them are drawn and swapped in their place."""


def intervals(
    results: Results, units: UnitsOf, confidence: float, resamples: int, seed: int
) -> dict[str, dict[str, Interval]]:
    """The interval of every output; see `Report.intervals`."""
    resample.check_confidence(confidence)
    by_metric: dict[str, dict[str, Interval]] = {}
    drawn = _resampled(results, partial(_drawn_units, units, seed), resamples, seed)
    for metric, outputs in drawn.items():
        result = results[metric]
        scores, scale, seen = result.scores(), result.scale, _unit_counts(result, units(result))
        by_metric[metric] = {
            name: score_interval(values, scores[name], seen[name], scale(name), confidence)
            if result.resamples
            else replace(NO_INTERVAL, why=NO_COPIES)
            for name, values in outputs.items()
        }
    return by_metric


def compare_pairs(
    pairs: Mapping[Pair, tuple[Results, Results]],
    units: UnitsOf,
    size: int,
    options: SignificanceOptions,
) -> PairTests:
    """The paired tests of every output that both systems of each pair have, yet without ranks.

    The p-values of one metric's outputs are corrected together by `corrected`.
    """
    resample.check_confidence(options.confidence)
    tests = {
        (pair, name): _Test.of(pair, mine[name], theirs[name], size)
        for pair, (mine, theirs) in pairs.items()
        for name in mine
        if name in theirs
    }
    counts = {key: test.counts(units) for key, test in tests.items()}
    drawn_units = partial(_drawn_units, units, options.seed)
    swapped = _swap_differences(tests, counts, drawn_units, options)
    drawn: dict[int, Outputs] = {}
    if options.resamples:
        # A system of several pairs is drawn once: its result is the same object in each.
        results = {
            id(r): r for test in tests.values() if test.made for r in (test.mine, test.theirs)
        }
        drawn = _resampled(results, drawn_units, options.resamples, options.seed)
    compared: dict[Pair, Comparisons] = {pair: {} for pair in pairs}
    sides: dict[tuple[Pair, str], tuple[Outputs, Outputs]] = {}
    for (pair, name), test in tests.items():
        key = pair, name
        compared[pair][name] = test.compared(
            drawn, swapped[key], counts[key], size, units, options.confidence
        )
        if id(test.mine) in drawn and test.mine.resamples:
            sides[key] = drawn[id(test.mine)], drawn[id(test.theirs)]
    return PairTests(compared, sides)


class PairTests(NamedTuple):
    """The tests of pairs of systems, and the resampled scores of both, where there are any.

    `about` says what else is to be known of all of them.
    """

    compared: dict[Pair, Comparisons]
    drawn: Mapping[tuple[Pair, str], tuple[Outputs, Outputs]]
    about: Sequence[str] = ()

    def corrected(
        self, metric: str, outputs: Sequence[str], options: SignificanceOptions
    ) -> tuple[dict[tuple[Pair, str], float], float | None]:
        """The p-value of each pair and output of a metric, corrected over all of these.

        By a step-down over the resamples that all share, or else by Holm's method. Beside it stands
        how many standard errors are significant; None of one test.
        """
        tests = {
            (pair, output): by_metric[metric][output]
            for pair, by_metric in self.compared.items()
            if metric in by_metric
            for output in outputs
        }
        p_values = {key: test.randomization_p for key, test in tests.items()}
        if len(p_values) == 1:
            return p_values, None
        if not all((pair, metric) in self.drawn for pair, _ in tests):
            return resample.holm(p_values), normal_score((1 - options.confidence) / len(p_values))
        drawn = {}
        for pair, output in tests:
            mine, theirs = self.drawn[pair, metric]
            drawn[pair, output] = mine[output], theirs[output]
        distances = {key: _distance(test, options.trials) for key, test in tests.items()}
        return resample.step_down(p_values, distances, drawn, options.seed, options.confidence)


def _distance(test: Comparison, trials: int) -> float:
    """How many standard errors a test says that a difference is from 0.

    Where no swap was as extreme, p tells it too little, and Student's t says it.
    """
    p = test.randomization_p
    if test.test == RANDOMIZATION and test.se > 0 and p <= 1.000001 / (trials + 1):
        p = 2 * t_tail(abs(test.difference) / test.se, test.units - 1)
    return nan if isnan(p) else normal_score(p)


class _Test(NamedTuple):
    """A metric's results of two systems, over the samples that both have scores of.

    It isn't `made` where too little is left of the samples.
    """

    mine: Result
    theirs: Result
    samples: int
    withheld: str | None
    made: bool = True

    @classmethod
    def of(cls, names: Pair, mine: Result, theirs: Result, size: int) -> _Test:
        reason = withheld({names[1]: theirs, names[0]: mine})
        if not size:
            return cls(mine, theirs, 0, reason)
        if reason == MOSTLY_UNREAD:
            return cls(mine, theirs, min(mine.count, theirs.count), reason, made=False)
        if not mine.testable:
            return cls(mine, theirs, min(mine.count, theirs.count), reason or TOO_SLOW, made=False)
        if mine.buckets is not None and theirs.buckets is not None:
            return cls._of_buckets(mine, theirs, reason)
        if not (mine.has_units or theirs.has_units):
            return cls(mine, theirs, mine.count, reason or NOT_KEPT, made=False)
        common = mine.scored() & theirs.scored()
        return cls(_only(mine, common), _only(theirs, common), int(common.sum()), reason)

    @classmethod
    def _of_buckets(cls, mine: Result, theirs: Result, reason: str | None) -> _Test:
        my_sums, their_sums = mine.buckets, theirs.buckets
        assert my_sums is not None
        assert their_sums is not None
        if np.array_equal(my_sums.counts, their_sums.counts):
            return cls(mine, theirs, mine.count, reason)
        return cls(mine, theirs, min(mine.count, theirs.count), reason or _OTHERS, made=False)

    def counts(self, units: UnitsOf) -> dict[str, tuple[int, int]]:
        """The samples that only this and only the other has right, by output, if all are 0 or 1."""
        scales = {name: self.mine.scale(name) for name in self.mine.scores()}
        shares = [name for name, scale in scales.items() if scale and scale.share]
        if not shares or not self.made or self.mine.pooled:
            return {}
        if any(part is not None for part in units(self.mine)[1:]):
            return {}
        counts = {}
        mine, theirs = self.mine.samples(), self.theirs.samples()
        for name in shares:
            both = np.stack([mine[name], theirs[name]])
            both = both[:, np.isfinite(both).all(axis=0)]
            if np.isin(both, (0, 1)).all():
                counts[name] = int((both[0] > both[1]).sum()), int((both[0] < both[1]).sum())
        return counts

    def compared(
        self,
        drawn: Mapping[int, Outputs],
        swapped: Outputs,
        counts: Mapping[str, tuple[int, int]],
        size: int,
        units: UnitsOf,
        confidence: float,
    ) -> dict[str, Comparison]:
        """The comparison of every output by the draws and swaps."""
        mine, theirs, scale_of = self.mine.scores(), self.theirs.scores(), self.mine.scale
        observed = {name: score - theirs[name] for name, score in mine.items()}
        resampled = self._resampled_differences(observed, drawn, units, confidence)
        number = _unit_count(self.mine, units(self.mine)).number if self._is_drawn(drawn) else 0
        comparisons = {}
        for name, difference in observed.items():
            differences, interval = resampled[name]
            if name in counts:
                p, possible, test = mcnemar_mid_p(*counts[name]), True, MID_P
                se, tested = se_of_shares(*counts[name], self.samples), self.samples
            else:
                scale = scale_of(name)
                ties = 0.5 if scale and scale.share else 1.0
                p = resample.randomization_p(swapped[name], difference, ties=ties)
                # Few trials have no p that is small enough to be significant.
                possible = is_significant(ties / (len(swapped[name]) + 1), confidence)
                se, tested, test = _standard_error(differences, number), number, RANDOMIZATION
            if possible and not (isnan(p) or is_significant(p, confidence)):
                interval = interval.with_zero()
            comparisons[name] = Comparison(
                score=mine[name],
                other=theirs[name],
                difference=difference,
                interval=interval,
                randomization_p=p,
                sacrebleu_bootstrap_p=resample.bootstrap_p(differences, difference),
                samples=self.samples,
                left_out=size - self.samples,
                withheld=self.withheld,
                se=se,
                units=tested,
                test=test,
                differing=sum(counts.get(name, ())),
            )
        return comparisons

    def _is_drawn(self, drawn: Mapping[int, Outputs]) -> bool:
        return bool(drawn) and self.made and self.mine.resamples

    def _resampled_differences(
        self,
        observed: Mapping[str, float],
        drawn: Mapping[int, Outputs],
        units: UnitsOf,
        confidence: float,
    ) -> dict[str, tuple[NDArray[np.float64], Interval]]:
        """The differences of every output in the resamples, and their interval; `nan` of none."""
        if not self._is_drawn(drawn):
            copies = drawn and self.made
            none = replace(NO_INTERVAL, why=NO_COPIES) if copies else NO_INTERVAL
            return dict.fromkeys(observed, (np.full(1, np.nan), none))
        scale_of = self.mine.scale
        scales = {name: scale_of(name) for name in observed}
        drawn_units = _unit_counts(self.mine, units(self.mine))
        paired: Outputs = {}
        if not self.mine.pooled and any(scale and scale.share for scale in scales.values()):
            samples = _differences(self.mine.samples(), self.theirs.samples())
            paired = {name: values[np.isfinite(values)] for name, values in samples.items()}
        differences = _differences(drawn[id(self.mine)], drawn[id(self.theirs)])
        return {
            name: (
                differences[name],
                difference_interval(
                    differences[name],
                    difference,
                    drawn_units[name],
                    scales[name],
                    confidence,
                    paired.get(name),
                ),
            )
            for name, difference in observed.items()
        }


def _standard_error(differences: NDArray[np.float64], units: int) -> float:
    """The error of a difference, by those of the resamples; `nan` of fewer than two units."""
    finite = differences[np.isfinite(differences)]
    if units < 2 or not len(finite):
        return nan
    return float(finite.std()) * sqrt(units / (units - 1))


def withheld(systems: Results) -> str | None:
    """Why none of the systems can be called better.

    They left different samples unanswered, their scores are of less than half of the samples, or
    the metric's card says why it ranks none.
    """
    if any(result.mostly_unread for result in systems.values()):
        return MOSTLY_UNREAD
    counts = {name: result.unanswered.total() for name, result in systems.items()}
    first, *others = systems.values()
    if first.metric.card.unranked:
        return first.metric.card.unranked
    if len(set(counts.values())) == 1:
        pooled = any(result.pooled for result in systems.values())
        if pooled or not any(counts.values()):
            return None
        if all((first.scored() == other.scored()).all() for other in others):
            return None
    numbers = ", ".join(f"{name}: {count}" for name, count in counts.items())
    return f"the systems left different samples unanswered ({numbers})"


def _only(result: Result, common: NDArray[np.bool_]) -> Result:
    """The result over the samples that both systems have scores of."""
    return result if (common == result.scored()).all() else result.only(common)


@in_one_thread
def _resampled(
    results: Mapping[K, Result], units: UnitsOf, resamples: int, seed: int
) -> dict[K, Outputs]:
    """The scores of the resamples, the same draws for all results of equally many units."""
    drawn: dict[K, Outputs] = {}
    for number, group in _by_number({k: units(r) for k, r in results.items()}).items():
        if not number:
            drawn |= {key: _no_scores(results[key], resamples) for key in group}
            continue
        resamplers = {key: results[key].resampler(of) for key, of in group.items()}
        products_with = Products([resampler.columns for resampler in resamplers.values()])
        blocks = []
        for draw in draws(number, resamples, seed):
            products = zip(resamplers.items(), products_with(draw.weights), strict=True)
            blocks.append({key: r.drawn(draw.weights, product) for (key, r), product in products})
        drawn |= _joined_outputs(blocks)
    return drawn


@in_one_thread
def _swap_differences(
    tests: Mapping[K, _Test],
    counts: Mapping[K, Mapping[str, object]],
    units: UnitsOf,
    options: SignificanceOptions,
) -> dict[K, Outputs]:
    """The differences of swapped systems; `counts` has the outputs that need none."""
    swapped = {key: _no_scores(test.mine, 1) for key, test in tests.items()}
    made = {
        key: units(test.mine)
        for key, test in tests.items()
        if test.made and test.samples and counts[key].keys() != test.mine.scores().keys()
    }
    for number, group in _by_number(made).items():
        swapping = _Swaps({key: tests[key] for key in group}, group)
        rows = max(1, _PRODUCT // max(swapping.products.width, 1))
        blocks = [
            swapping.differences(tosses[start : start + rows])
            for tosses in swaps(number, options.trials, options.seed)
            for start in range(0, len(tosses), rows)
        ]
        swapped |= _joined_outputs(blocks)
    return swapped


class _Swaps(Generic[K]):
    """Tests whose units are swapped by the same tosses.

    The tosses are multiplied with each system's difference from a first one alone: what two others
    differ in lies between these, which spares most of the work where many are compared.
    """

    def __init__(self, tests: Mapping[K, _Test], units: Mapping[K, Units]) -> None:
        resamplers = {
            id(result): result.resampler(units[key])
            for key, test in tests.items()
            for result in (test.mine, test.theirs)
        }
        columns: list[NDArray[np.float64]] = []
        # Each system's first one, and the place of its difference from that; -1 of none.
        places: dict[int, tuple[int, int]] = {}
        self._swaps: dict[K, tuple[Swap, int, int]] = {}
        for key, test in tests.items():
            mine, theirs = id(test.mine), id(test.theirs)
            first, its_place = places.setdefault(theirs, (theirs, -1))
            my_first, my_place = places.get(mine, (None, -1))
            if my_first != first:
                base, its_place = (first, its_place) if my_first is None else (theirs, -1)
                my_place = len(columns)
                columns.append(resamplers[mine].columns - resamplers[base].columns)
                places.setdefault(mine, (first, my_place))
            swap = resamplers[mine].against(resamplers[theirs])
            self._swaps[key] = swap, my_place, its_place
        self.products = Products(columns)

    def differences(self, tosses: NDArray[np.bool_]) -> dict[K, Outputs]:
        """The differences of both systems of every test after these tosses."""
        products = [*self.products(tosses), np.zeros((len(tosses), 1))]
        return {
            key: _differences(*swap(tosses, products[mine] - products[theirs]))
            for key, (swap, mine, theirs) in self._swaps.items()
        }


def _drawn_units(units: UnitsOf, seed: int, result: Result) -> Units:
    """The units of a result, or buckets of its samples where these are many and add up.

    Samples fall into buckets at random: data is often in an order that repeats.
    """
    of_result = units(result)
    if of_result.number < _MANY or not result.adds_up or any(p is not None for p in of_result[1:]):
        return of_result
    shuffled = np.random.default_rng(seed).permutation(of_result.number)
    return Units(BUCKETS, shuffled % BUCKETS)


def _unit_counts(result: Result, units: Units) -> dict[str, UnitCount]:
    """The number of units that were drawn for each output."""
    seen, parts = _unit_count(result, units), result.parts(units)
    return {o: seen.over(parts[o]) if parts.get(o) else seen for o in result.scores()}


def _unit_count(result: Result, units: Units) -> UnitCount:
    """The units that hold a scored sample: the others change no score."""
    if units.filled is not None and result.buckets is not None:
        filled = int(np.count_nonzero(result.buckets.counts[units.filled]))
        return UnitCount(filled, result.count, "sample" if filled == result.count else "bucket")
    if units.unit_of_sample is None:
        return UnitCount(result.count, result.count)
    return UnitCount(np.unique(units.unit_of_sample[result.scored()]).size, result.count, "cluster")


def _by_number(units_of: Mapping[K, Units]) -> dict[int, dict[K, Units]]:
    """The units by how many they are: those of equally many share draws."""
    groups: dict[int, dict[K, Units]] = {}
    for key, units in units_of.items():
        groups.setdefault(units.number, {})[key] = units
    return groups


def _no_scores(result: Result, number: int) -> Outputs:
    return {output: np.full(number, np.nan) for output in result.scores()}


def _differences(first: Outputs, second: Outputs) -> Outputs:
    """One system's scores minus the other's; two that are both infinite have no difference."""
    with np.errstate(invalid="ignore"):
        return {output: first[output] - second[output] for output in first}


def _joined_outputs(blocks: Sequence[dict[K, Outputs]]) -> dict[K, Outputs]:
    if len(blocks) == 1:
        return blocks[0]
    return {
        key: {o: np.concatenate([block[key][o] for block in blocks]) for o in outputs}
        for key, outputs in blocks[0].items()
    }
