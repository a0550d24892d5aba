"""Resampling: draws and swaps, and the p-values and intervals that they give.

It knows arrays, not metrics. The draws and the p-values are those of sacrebleu (Post 2018) for the
same seed, after Koehn (2004) for the paired bootstrap and Riezler and Maxwell (2005) for
approximate randomization. Work is done in blocks of resamples, so that memory doesn't grow with
their number.

A unit is what a bootstrap draws: a sample, a cluster or a bucket. From 100 units on, an interval
is that of the resamples' percentiles. Of fewer, percentiles are too narrow: the resamples' standard
deviation is the standard error, and Student's t says how many of them to reach. Scores of a range
with two ends get Wilson's interval of as many yes/no samples as have that standard error, which
also holds near the ends; there, or where the resamples are biased, percentiles take more than 100
units. Shares, outputs whose card says that they are means of 0 and 1, get it for any number of
samples, and their paired differences Tango's. A mean over labels is worth as many units as the
rarer labels allow. Everything else gets none, and the reason: too few units, or resamples that are
all alike or lie to one side of the score.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ParameterError
from metrichub.evaluation.distributions import quantile, student, tango, wilson_ends
from metrichub.evaluation.draws import CELLS, generator_of, in_one_thread

if TYPE_CHECKING:
    from metrichub.catalog.frontmatter import Scale

K = TypeVar("K", bound=Hashable)
SEED = 12345
Array = NDArray[np.float64]
LEAST, LEAST_PAIRED, MANY = 5, 8, 100
"""Units that a score's interval takes, and a difference's; and units from which percentiles hold.

A paired test of fewer than 6 units is never significant, and of fewer than 8 it and an interval
often disagree.
"""


def check_confidence(confidence: float) -> None:
    """Raise `ParameterError` unless the confidence of an interval lies between 0 and 1."""
    if not isinstance(confidence, (int, float, np.number)) or not 0 < confidence < 1:
        raise ParameterError(
            None, "confidence", confidence, "a number between 0 and 1, for example 0.95"
        )


def bootstrap_p(differences: NDArray[np.float64], observed: float) -> float:
    """Sacrebleu's p-value of paired bootstrap differences for the observed difference.

    The fraction of resamples whose absolute difference exceeds its own mean by the observed one: on
    few samples it is too often small, so that randomization is to be preferred there.
    """
    distances = np.abs(differences)
    return _p_value(distances - distances.mean(), abs(observed))


def randomization_p(
    differences: NDArray[np.float64], observed: float, *, ties: float = 1.0
) -> float:
    """The two-sided p-value of differences between systems whose outputs were swapped at random.

    `ties` is what an equally large difference counts: half makes a mid-p, for shares.
    """
    if ties < 1 and not differences.any():
        return 1.0
    return _p_value(np.abs(differences), abs(observed), ties)


def _p_value(statistics: NDArray[np.float64], observed: float, ties: float = 1.0) -> float:
    if np.isnan(observed) or np.isnan(statistics).any():
        return float("nan")
    # Ties count, unlike in sacrebleu: else two identical systems would differ significantly.
    rounding = 1e-12 * max(1.0, observed)
    above = float(np.count_nonzero(statistics > observed + rounding))
    equal = float(np.count_nonzero(statistics >= observed - rounding)) - above
    return (above + ties * (equal + 1)) / (len(statistics) + 1)


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's correction of one family's p-values; `nan` isn't a test, and stays `nan`."""
    tested = sorted((p, i) for i, p in enumerate(p_values.values()) if not isnan(p))
    corrected = list(p_values.values())
    highest = 0.0
    for k, (p, i) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - k) * p))
        corrected[i] = highest
    return dict(zip(p_values, corrected, strict=True))


@in_one_thread
def step_down(
    p_values: Mapping[K, float],
    distances: Mapping[K, float],
    drawn: Mapping[K, tuple[Array, Array]],
    seed: int,
    confidence: float = 0.95,
) -> tuple[dict[K, float], float | None]:
    """The p-values of one family of differences, corrected by what their draws have in common.

    Westfall and Young's (1993) step-down over normal draws of the resamples' covariance (Hothorn,
    Bretz and Westfall 2008): the largest of several distances that depend on one another is
    smaller than of independent ones, which Holm's method takes them for. `distances` says how far
    each difference is from 0, in standard deviations; `drawn` has the resampled scores of its two
    sides, in draws that all share. Differences that never vary in them are corrected by their
    number. `nan` isn't a test, and stays `nan`. Beside the p-values stands the distance from which
    on the farthest is significant; None without draws that say it.
    """
    tested = {key: p for key, p in p_values.items() if not isnan(p)}
    corrected = {key: min(1.0, len(tested) * p) for key, p in tested.items()}
    with np.errstate(invalid="ignore"):
        contrasts = {key: drawn[key][0] - drawn[key][1] for key in tested}
    alike: dict[tuple[float, bytes], list[K]] = {}
    for key, values in contrasts.items():
        alike.setdefault((tested[key], values.tobytes()), []).append(key)
    if len(alike) < 2:
        return {**p_values, **tested}, None
    sides = {id(side): side for key in tested for side in drawn[key]}
    # In an order of their own: another baseline changes no p.
    columns = dict(sorted(sides.items(), key=lambda side: side[1].tobytes()))
    place = {column: number for number, column in enumerate(columns)}
    complete = np.isfinite(matrix := np.column_stack([*columns.values()])).all(axis=1)
    deviations = {key: float(contrasts[key][complete].std(ddof=1)) for key in tested}
    least = 1e-12 * max(1.0, float(np.abs(matrix[complete]).max(initial=0)))
    order = sorted((k for k in tested if deviations[k] > least), key=lambda k: -distances[k])
    if not order:
        return {**p_values, **corrected}, None
    normal = _normal_draws(matrix[complete], seed)
    left, right = (np.array([place[id(drawn[key][side])] for key in order]) for side in (0, 1))
    scale = np.array([deviations[key] for key in order])
    least_far = np.array([distances[key] for key in order])
    larger, farthest = np.zeros(len(order)), np.zeros(_NORMAL)
    for start in range(0, _NORMAL, step := max(1, 10 * CELLS // len(order))):
        block = normal[start : start + step]
        far = np.abs(block[:, left] - block[:, right]) / scale
        # The largest of each hypothesis and of all that are less far.
        largest = np.maximum.accumulate(far[:, ::-1], axis=1)[:, ::-1]
        larger += (largest >= least_far - 1e-9).sum(axis=0)
        farthest[start : start + step] = largest[:, 0]
    stepped = np.maximum.accumulate((1 + larger) / (_NORMAL + 1)).tolist()
    corrected |= {k: max(p, tested[k]) for k, p in zip(order, stepped, strict=True)}
    return {**p_values, **corrected}, float(np.quantile(farthest, confidence))


_NORMAL = 20_000
"""Normal draws of a step-down."""


def _normal_draws(matrix: Array, seed: int) -> Array:
    """Normal rows with the covariance of the columns, (20,000, columns)."""
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(matrix, rowvar=False)))
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return generator_of(seed).standard_normal((_NORMAL, matrix.shape[1])) @ root.T


EXTENDED = ", extended to 0"
"""Ends the method of an interval of a difference that isn't significant and would leave 0 out."""


class Record:
    """Values with names: two are equal if all of them are, and `nan` equals `nan`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether all values are equal."""
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_equal, self._values(), other._values()))

    def __hash__(self) -> int:
        """Equal ones have one hash."""
        # All `nan` are equal here, and have different hashes.
        numbers = (v for v in self._values() if isinstance(v, (str, int)) or _is_number(v))
        return hash(tuple(numbers))

    def _values(self) -> list[Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # its classes are
        return [getattr(self, name) for name in names]


def _is_number(value: object) -> bool:
    return isinstance(value, float) and not isnan(value)


def _equal(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=True)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, float) and isinstance(second, float) and isnan(first):
        return isnan(second)
    return bool(first == second)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interval(Record):
    """The interval of a score or a difference; `mean` and `std` are those of the resamples.

    `method` is "bootstrap percentiles", "bootstrap standard error", "Wilson" (with the bootstrap's
    standard error: "Wilson, bootstrap standard error") or "Tango". Without an interval both ends
    are `nan`, and `why` says why a score that there is has none.
    """

    low: float
    high: float
    mean: float
    std: float
    method: str = ""
    why: str | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, the low one first."""
        return self.low, self.high

    def with_zero(self) -> Interval:
        """The same, extended to 0 where it leaves 0 out; the method says so."""
        if not (self.low > 0 or self.high < 0):
            return self
        method = f"{self.method}{EXTENDED}"
        return replace(self, low=min(self.low, 0.0), high=max(self.high, 0.0), method=method)


class UnitCount(NamedTuple):
    """Units that were drawn: `number` of a `kind` that stand for `samples` samples.

    Of a mean over parts there is the number of units of the `rarest` one, and what these have, such
    as "the label 'x'".
    """

    number: int
    samples: int
    kind: str = "sample"
    rarest: tuple[int, str] | None = None

    def over(self, parts: Mapping[str, int]) -> UnitCount:
        """The number of units that vary as much as a mean over parts of these sizes."""
        rarest, number = min(parts.items(), key=lambda part: part[1])
        worth = round(len(parts) ** 2 / sum(1 / n for n in parts.values())) if number else 0
        return self._replace(number=min(worth, self.number), rarest=(number, rarest))

    def few(self, least: int) -> str | None:
        """Why there is no interval of so few; None of enough."""
        number, part = self.rarest or (self.number, "")
        kinds, verb = (self.kind, "is") if number == 1 else (f"{self.kind}s", "are")
        few = f"{number} {kinds}{part and ' with '}{part} {verb} too few; an interval needs {least}"
        return few if number < least else None


NO_INTERVAL = Interval(low=nan, high=nan, mean=nan, std=nan)
NOT_ESTIMATED = "samples drawn with replacement don't estimate it"
NO_COPIES = f"{NOT_ESTIMATED}, as it depends on how many texts differ"
_NO_SPREAD = "all resamples have the same score"
_FEW_RESAMPLES = 20
"""Fewer may all be alike or lie to one side of the score by chance."""


def score_interval(
    drawn: Array, score: float, units: UnitCount, scale: Scale | None, confidence: float
) -> Interval:
    """The interval of a score, from the scores that its resamples have."""
    draws = _Draws.of(drawn, score, confidence)
    if not isfinite(score):
        return draws.none(None if isnan(score) else "the score is infinite")
    share = scale is not None and scale.share
    low, high = (0, 1) if share else (scale.low, scale.high) if scale else (None, None)
    open_ended = low is None or high is None or not isfinite(high - low)
    start, width = low or 0.0, nan if open_ended else (high or 0.0) - (low or 0.0)
    # Between the ends, from 0 to 1; rounding must not keep a score from an end.
    place = float(np.clip(round((score - start) / width, 12), 0, 1))
    if not share:
        if few := units.few(LEAST):
            return draws.none(few)
        if draws.alike and place not in (0, 1):
            return draws.unclear(_NO_SPREAD)
        if draws.misses_score:
            return draws.unclear(NOT_ESTIMATED)
    variance, placed = place * (1 - place), draws._replace(std=draws.std / width)
    freedom = MANY if share or isnan(width) else _freedom(units.number, place, placed.std)
    # The percentiles of biased resamples are off by as much.
    biased = width > 0 and abs(draws.mean - score) > draws.std / 4
    if share or biased or freedom < MANY - 1:
        effective, reach = _effective_size(units, variance, placed, None if share else freedom)
        resampled = units.kind != "sample" or not (share or draws.alike)
        method = "Wilson, bootstrap standard error" if resampled else "Wilson"
        least, most = wilson_ends(place, effective, reach)
        return draws.interval(start + width * least, start + width * most, method)
    return draws.bootstrap(units.number, low, high)


def difference_interval(
    drawn: Array,
    difference: float,
    units: UnitCount,
    scale: Scale | None,
    confidence: float,
    paired: Array | None = None,
) -> Interval:
    """The interval of a difference, from those of resamples that both systems were drawn in alike.

    `paired` are the differences of the samples, which those of shares need.
    """
    draws = _Draws.of(drawn, difference, confidence)
    if not isfinite(difference):
        return draws.none(None if isnan(difference) else "the difference is infinite")
    if few := units.few(LEAST_PAIRED):
        return draws.none(few)
    if scale is not None and scale.share and paired is not None:
        more, less = float(paired[paired > 0].sum()), float(-paired[paired < 0].sum())
        variance = float((paired * paired).mean()) - difference * difference
        effective, reach = _effective_size(units, variance, draws)
        low, high = tango(more / len(paired), less / len(paired), effective, reach)
        return draws.interval(low, high, "Tango")
    if draws.alike:
        return draws.unclear(_NO_SPREAD.replace("score", "difference"))
    if draws.misses_score:
        return draws.unclear(NOT_ESTIMATED)
    width = None
    if scale is not None and scale.low is not None and scale.high is not None:
        width = scale.high - scale.low
    return draws.bootstrap(units.number, None if width is None else -width, width)


class _Draws(NamedTuple):
    """The finite scores of resamples, in order, beside the score of all samples."""

    values: Array
    score: float
    mean: float
    std: float
    confidence: float
    drawn: int

    @classmethod
    def of(cls, drawn: Array, score: float, confidence: float) -> _Draws:
        values = np.sort(drawn[np.isfinite(drawn)])
        mean, std = (float(values.mean()), float(values.std())) if len(values) else (nan, nan)
        return cls(values, score, mean, std, confidence, len(drawn))

    @property
    def alike(self) -> bool:
        return bool(self.std <= 1e-12 * max(1.0, abs(self.mean)))

    @property
    def percentiles(self) -> tuple[float, float]:
        cut = int(len(self.values) * (1 - self.confidence) / 2 + 1e-9)
        return float(self.values[cut]), float(self.values[len(self.values) - cut - 1])

    @property
    def misses_score(self) -> bool:
        """Whether the resamples' scores don't surround the score, or there are none."""
        if not len(self.values):
            return True
        low, high = self.percentiles
        rounding = 1e-9 * max(1.0, abs(self.score))
        return not low - rounding <= self.score <= high + rounding

    def none(self, why: str | None) -> Interval:
        return Interval(low=nan, high=nan, mean=self.mean, std=self.std, why=why)

    def unclear(self, why: str) -> Interval:
        """No interval, for what the resamples show, if they are enough to show anything."""
        few = f"{self.drawn} resample{'s are' if self.drawn > 1 else ' is'} too few"
        return self.none(few if self.drawn < _FEW_RESAMPLES else why)

    def interval(self, low: float, high: float, method: str) -> Interval:
        return Interval(low=low, high=high, mean=self.mean, std=self.std, method=method)

    def bootstrap(self, units: int, least: float | None, most: float | None) -> Interval:
        """By percentiles, or of fewer units by Student's t, within the range that scores have."""
        if units >= MANY:
            return self.interval(*self.percentiles, "bootstrap percentiles")
        reach = student(units - 1, self.confidence) * self.std * sqrt(units / (units - 1))
        low, high = self.score - reach, self.score + reach
        low = low if least is None else max(least, low)
        high = high if most is None else min(most, high)
        return self.interval(low, high, "bootstrap standard error")


def _effective_size(
    units: UnitCount, variance: float, draws: _Draws, freedom: int | None = None
) -> tuple[float, float]:
    """The number of yes/no samples that vary alike, and the standard errors of an interval.

    `variance` is that of a yes/no sample. That of the resamples says what the units are worth;
    where nothing varies, or the score is at an end, each counts as one sample. Samples that are yes
    or no need none; others have degrees of `freedom`.
    """
    if freedom is None and units.kind == "sample":
        return units.samples, quantile(draws.confidence)
    number, squared = units.number, draws.std * draws.std
    if number < 2 or draws.alike or not variance:
        return number, quantile(draws.confidence)
    effective = variance / (squared * number / (number - 1))
    if freedom is None:
        return min(max(effective, 1.0), units.samples), student(number - 1, draws.confidence)
    return min(effective, number) if units.rarest else effective, student(freedom, draws.confidence)


def _freedom(number: int, place: float, std: float) -> int:
    """Student's degrees of freedom of a score at a `place` from 0 to 1 between its ends.

    Near an end most units lie at it, and only the others say how much all vary: if these were all
    as far from it, `differing` of them. Of 1 to 4 degrees for each of these, 3 cover best.
    """
    far = min(place, 1 - place) ** 2
    differing = number * far / (std * std * number + far or 1.0)
    return min(number - 1, max(1, round(3 * differing)))
