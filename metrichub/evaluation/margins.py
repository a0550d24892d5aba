"""Margins: whether a system is shown to be worse by no more than a margin, or not shown.

The burden of proof is turned round: that it is worse by the margin is the hypothesis, tested one-
sided (Schuirmann 1987), so that few samples fail. Means of bounded scores get one more sample,
which loses as much as any did: a few samples that lose much make Student's t too sure of itself.
Shares have Tango's (1998) score statistic, everything else Student's t.
"""

from __future__ import annotations

from math import ceil, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.evaluation.distributions import (
    normal_tail,
    quantile,
    student,
    t_tail,
    tango,
    tango_error,
)
from metrichub.evaluation.power import LEAST_UNITS, roughly, units_in_words
from metrichub.evaluation.result import Result
from metrichub.evaluation.significance import MID_P, Comparison, Pair, is_significant, p_text

Array = NDArray[np.float64]
_POWER = 0.6
"""The confidence whose one-sided end four of five cases reach."""


class Margin(NamedTuple):
    """The test of a margin.

    `p` is that of a system that is worse by the margin, one-sided; `shown` whether it is small
    enough; `difference` that of the scores, above 0 where the system is better, and `low` its lower
    end at this confidence. `needed` is how many units would show it of a system that is as
    good as the other, in 4 of 5 cases. `why` says why nothing is known; `sentence` is all in words.
    """

    p: float
    shown: bool
    difference: float
    low: float
    confidence: float
    needed: int | None = None
    why: str | None = None
    sentence: str = ""


def not_worse(
    test: Comparison,
    better: str,
    margin: float,
    confidence: float = 0.95,
    means: Array | None = None,
) -> Margin:
    """Whether the first system of a test is worse than the other by less than a margin.

    Args:
        test: the comparison of a system with its baseline.
        better: "higher" or "lower".
        margin: in the unit of the score, above 0.
        confidence: one less the error that is allowed.
        means: the differences of the samples, (N,), if the score is their mean and has a range.
    """
    sign = -1 if better == "lower" else 1
    difference, units = sign * test.difference, test.units
    if test.withheld or units < LEAST_UNITS or not isfinite(test.se) or not isfinite(difference):
        few = f"{units} units are too few; a margin needs {LEAST_UNITS}"
        why = test.withheld or (few if units < LEAST_UNITS else "its error isn't known")
        return Margin(nan, False, difference, nan, confidence, why=why)
    if test.test == MID_P:
        won = round((test.differing + difference * units) / 2)
        shares = won / units, (test.differing - won) / units
        se = tango_error(*shares, units, -margin)
        # Without an error no difference of shares is as large as the margin.
        p = normal_tail((difference + margin) / se) if se > 0 else 0.0
        low = tango(*shares, units, quantile(2 * confidence - 1))[0]
    else:
        middle, se, freedom = difference, test.se, units - 1
        if means is not None:
            means = sign * means
            # As much as any lost or won; the samples are units.
            more = np.append(means, -np.abs(means).max())
            middle, se = float(more.mean()), float(more.std(ddof=1)) / sqrt(len(more))
            freedom = len(means)
        elif units < 100:
            # Of few units of what isn't a mean, Student's t holds at half of the error only.
            confidence = 1 - (1 - confidence) / 2
        if not se > 0:
            return Margin(nan, False, difference, nan, confidence, why="its differences never vary")
        p = t_tail((middle + margin) / se, freedom)
        low = middle - student(freedom, 2 * confidence - 1) * se
    reach = student(units - 1, 2 * confidence - 1) + student(units - 1, _POWER)
    needed = max(LEAST_UNITS, round(units * (reach * se / margin) ** 2 + 0.5))
    return Margin(p, p <= 1 - confidence + 1e-12, difference, low, confidence, needed)


def margin_in_words(
    margin: Margin, test: Comparison, pair: Pair, limit: str, confidence: float, cluster: str | None
) -> str:
    """The result of a margin's test in words; `limit` is "0.01 on chrf"."""
    text = f"worse than {pair[1]} by more than {limit}"
    if margin.shown:
        worse = margin.difference < 0 and is_significant(test.p, confidence)
        also = f", though significantly worse ({p_text(test.p)})" if worse else ""
        return f"{pair[0]} is not {text} ({p_text(margin.p)}){also}"
    if margin.why:
        return f"{pair[0]} can't be shown not to be {text}: {margin.why}"
    return (
        f"{pair[0]} may be {text} (difference {margin.difference:+.4g}, with "
        f"{100 * margin.confidence:g}% confidence no less than {margin.low:+.4g}); "
        f"{needed_in_words(margin.needed or 0, test, cluster)} would show it of a system "
        "that is as good"
    )


def needed_in_words(needed: int, test: Comparison, cluster: str | None) -> str:
    """A number of units in words; buckets as the samples that they would hold."""
    number = needed if cluster else ceil(needed * test.samples / test.units)
    return f"{roughly(test.units, cluster)} {units_in_words(number, cluster)}"


def mean_differences(mine: Result, theirs: Result, output: str) -> Array | None:
    """The differences of the samples, where both scores are means of them and have a range."""
    scale = mine.scale(output)
    if mine.pooled or theirs.pooled or scale is None or None in (scale.low, scale.high):
        return None
    sides = [result.samples()[output] for result in (mine, theirs)]
    for result, values in zip((mine, theirs), sides, strict=True):
        finite = values[np.isfinite(values)]
        if not len(finite) or abs(float(finite.mean()) - result.scores()[output]) > 1e-9:
            return None
    differences: Array = sides[0] - sides[1]
    return differences[np.isfinite(differences)]
