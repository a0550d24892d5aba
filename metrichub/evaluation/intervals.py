"""Which interval a score or a difference of two gets, by how many units were drawn for it.

A unit is what a bootstrap draws: a sample, a cluster or a bucket. From 100 units on, an interval
is that of the resamples' percentiles. Of fewer, percentiles are too narrow: the resamples' standard
deviation is the standard error, and Student's t says how many of them to reach. Scores from 0 to 1
get Wilson's interval of as many yes/no samples as have that standard error, which also holds near
the ends of the range. Shares, outputs whose card says that they are means of 0 and 1, get it for
any number of samples, and their paired differences Tango's. Everything else gets none, and the
reason: too few units, or resamples that are all alike or lie to one side of the score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, isfinite, isnan, lgamma, log, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from metrichub.catalog.frontmatter import Scale

Array = NDArray[np.float64]
LEAST, LEAST_PAIRED, MANY = 5, 8, 100
"""Units that a score's interval takes, and a difference's; and units from which percentiles hold.

A paired test of fewer than 6 units is never significant, and of fewer than 8 it and an interval
often disagree.
"""


class Interval(NamedTuple):
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

    def with_zero(self) -> Interval:
        """The same, extended to 0 where it leaves 0 out."""
        return self._replace(low=min(self.low, 0.0), high=max(self.high, 0.0))


class UnitCount(NamedTuple):
    """What was drawn: `number` units of a `kind` that stand for `samples` samples."""

    number: int
    samples: int
    kind: str = "sample"

    def few(self, least: int) -> str:
        """Why there is no interval of so few."""
        several = self.number != 1
        kinds, verb = f"{self.kind}{'s' * several}", "are" if several else "is"
        return f"{self.number} {kinds} {verb} too few; an interval needs {least}"


NO_INTERVAL = Interval(nan, nan, nan, nan)
NOT_ESTIMATED = "samples drawn with replacement don't estimate it"
_NO_SPREAD = "all resamples have the same score"
_FEW_RESAMPLES = 20
"""Fewer may all be alike or lie to one side of the score by chance."""
_STEPS = 300
"""Terms of a continued fraction, at most."""


def score_interval(
    drawn: Array, score: float, units: UnitCount, scale: Scale | None, level: float
) -> Interval:
    """The interval of a score, from the scores that its resamples have."""
    draws = _Draws.of(drawn, score, level)
    if not isfinite(score):
        return draws.none(None if isnan(score) else "the score is infinite")
    share = scale is not None and scale.share
    low, high = (None, None) if scale is None else (scale.low, scale.high)
    if not share:
        if units.number < LEAST:
            return draws.none(units.few(LEAST))
        if draws.alike and not ((low, high) == (0, 1) and score in (0, 1)):
            return draws.unclear(_NO_SPREAD)
        if draws.misses_score:
            return draws.unclear(NOT_ESTIMATED)
    if share or ((low, high) == (0, 1) and (units.number < MANY or draws.alike)):
        score = min(max(score, 0.0), 1.0)
        effective, reach = _effective_size(units, score * (1 - score), draws, yes_or_no=share)
        # No mean of numbers from 0 to 1 varies more than that of yes and no; a ratio may.
        if share or effective >= units.number - 1:
            resampled = units.kind != "sample" or not (share or draws.alike)
            method = "Wilson, bootstrap standard error" if resampled else "Wilson"
            return draws.interval(*wilson_ends(score, effective, reach), method)
    return draws.bootstrap(units.number, low, high)


def difference_interval(
    drawn: Array,
    difference: float,
    units: UnitCount,
    scale: Scale | None,
    level: float,
    paired: Array | None = None,
) -> Interval:
    """The interval of a difference, from those of resamples that both systems were drawn in alike.

    `paired` are the differences of the samples, which those of shares need.
    """
    draws = _Draws.of(drawn, difference, level)
    if not isfinite(difference):
        return draws.none(None if isnan(difference) else "the difference is infinite")
    if units.number < LEAST_PAIRED:
        return draws.none(units.few(LEAST_PAIRED))
    if scale is not None and scale.share and paired is not None:
        more, less = float(paired[paired > 0].sum()), float(-paired[paired < 0].sum())
        variance = float((paired * paired).mean()) - difference * difference
        effective, reach = _effective_size(units, variance, draws, yes_or_no=True)
        shares = more / len(paired), less / len(paired)
        return draws.interval(*_tango(*shares, effective, reach), "Tango")
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
    level: float
    drawn: int

    @classmethod
    def of(cls, drawn: Array, score: float, level: float) -> _Draws:
        values = np.sort(drawn[np.isfinite(drawn)])
        mean, std = (float(values.mean()), float(values.std())) if len(values) else (nan, nan)
        return cls(values, score, mean, std, level, len(drawn))

    @property
    def alike(self) -> bool:
        return bool(self.std <= 1e-12 * max(1.0, abs(self.mean)))

    @property
    def percentiles(self) -> tuple[float, float]:
        cut = int(len(self.values) * (1 - self.level) / 2 + 1e-9)
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
        return Interval(nan, nan, self.mean, self.std, "", why)

    def unclear(self, why: str) -> Interval:
        """No interval, for what the resamples show, if they are enough to show anything."""
        few = f"{self.drawn} resample{'s are' if self.drawn > 1 else ' is'} too few"
        return self.none(few if self.drawn < _FEW_RESAMPLES else why)

    def interval(self, low: float, high: float, method: str) -> Interval:
        return Interval(low, high, self.mean, self.std, method)

    def bootstrap(self, units: int, least: float | None, most: float | None) -> Interval:
        """By percentiles, or of fewer units by Student's t, within the range that scores have."""
        if units >= MANY:
            return self.interval(*self.percentiles, "bootstrap percentiles")
        reach = student(units - 1, self.level) * self.std * sqrt(units / (units - 1))
        low, high = self.score - reach, self.score + reach
        low = low if least is None else max(least, low)
        high = high if most is None else min(most, high)
        return self.interval(low, high, "bootstrap standard error")


def _effective_size(
    units: UnitCount, variance: float, draws: _Draws, *, yes_or_no: bool
) -> tuple[float, float]:
    """How many yes/no samples these are worth, and how many standard errors an interval reaches.

    `variance` is that of a yes/no sample. That of the resamples says what the units are
    worth; where nothing varies, each counts as one sample. Samples that are `yes_or_no` need none.
    """
    if yes_or_no and units.kind == "sample":
        return units.samples, quantile(draws.level)
    if units.number < 2 or draws.alike:
        return units.number, quantile(draws.level)
    effective = variance / (draws.std * draws.std * units.number / (units.number - 1))
    if yes_or_no:
        effective = min(max(effective, 1.0), units.samples)
    return effective, student(units.number - 1, draws.level)


def quantile(confidence: float) -> float:
    """How many standard deviations a two-sided normal interval reaches."""
    # Scoring alone needs no intervals, and this loads decimal.
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + confidence) / 2)


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t with so many degrees of freedom."""
    if freedom <= 0 or isnan(t):
        return nan
    if abs(t) == inf:
        return 0.0 if t > 0 else 1.0
    half = _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return half if t > 0 else 1 - half


@lru_cache(maxsize=64)
def student(freedom: float, confidence: float) -> float:
    """How many standard errors a two-sided interval reaches, with so many degrees of freedom.

    >>> round(student(4, 0.95), 3)
    2.776
    """
    low, high = 0.0, 1.0
    while 2 * t_tail(high, freedom) > 1 - confidence:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if 2 * t_tail(middle, freedom) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    value, c, d = 1.0, 1.0, 0.0
    for m in range(_STEPS):
        k = m // 2
        if m == 0:
            step = 1.0
        elif m % 2:
            step = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            step = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        d = 1 / (1 + step * d or 1e-300)
        c = 1 + step / c or 1e-300
        value *= c * d
        if m and abs(1 - c * d) < 1e-15:
            break
    return front * (value - 1)


def wilson_ends(share: float, of: float, reach: float) -> tuple[float, float]:
    """Wilson's (1927) interval of a share of `of` cases; `reach` is in standard errors."""
    square = reach * reach
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = reach / (1 + square / of) * sqrt(share * (1 - share) / of + square / (4 * of * of))
    # Rounding must not put an end on the other side of the share.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def _tango(more: float, less: float, number: float, reach: float) -> tuple[float, float]:
    """Tango's (1998) score interval of a paired difference of shares.

    `more` and `less` are the shares of samples that only one system has right.
    """

    def distance(difference: float) -> float:
        """How many standard errors the observed difference is above this one."""
        a = 2.0
        b = difference * (2 - (more - less)) - more - less
        c = -less * difference * (1 - difference)
        wrong = (-b + sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)
        variance = max(0.0, 2 * wrong + difference * (1 - difference))
        above = more - less - difference
        return above / sqrt(variance / number) if variance > 0 else above * float("inf")

    observed = more - less
    low = _root(lambda d: distance(d) - reach, -1.0, observed)
    return low, _root(lambda d: distance(d) + reach, observed, 1.0)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes zero, or the end that is nearest to it."""
    for _ in range(60):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
