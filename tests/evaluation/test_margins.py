"""Margins: against scipy's and Tango's numbers, and what a gate makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from metrichub import Hub, compare_all
from metrichub.errors import ParameterError, ReportError
from metrichub.evaluation.margins import not_worse
from metrichub.evaluation.resample import NO_INTERVAL
from metrichub.evaluation.significance import MID_P, RANDOMIZATION, Comparison

EIGHT = [0.1, -0.05, 0.2, 0.05, 0.05, 0.05, -0.05, 0.15]
FIRST = [0.54, 0.579, 0.577, 0.405, 0.515, 0.493, 0.446, 0.55, 0.547, 0.541, 0.572, 0.527, 0.42,
         0.55, 0.476, 0.585, 0.494, 0.427, 0.432, 0.482]  # fmt: skip
SECOND = [0.535, 0.582, 0.533, 0.37, 0.591, 0.545, 0.446, 0.558, 0.536, 0.529, 0.503, 0.555, 0.426,
          0.484, 0.452, 0.56, 0.504, 0.471, 0.422, 0.474]  # fmt: skip
SPARSE = [*[0.0] * 18, -0.5, -0.4]
TWENTY = [a - b for a, b in zip(FIRST, SECOND, strict=True)]


def compared(difference: float, se: float, units: int, **more: Any) -> Comparison:
    """A comparison with this difference and its error."""
    test = Comparison(
        score=0.5 + difference,
        other=0.5,
        difference=difference,
        interval=NO_INTERVAL,
        p=0.5,
        randomization_p=0.5,
        sacrebleu_bootstrap_p=0.5,
        samples=units,
        left_out=0,
        se=se,
        units=units,
        test=RANDOMIZATION,
    )
    return replace(test, **more)


def of_samples(differences: list[float], sign: int = 1) -> Comparison:
    """A comparison of the means of samples with these differences."""
    values = sign * np.array(differences)
    error = float(values.std(ddof=1)) / sqrt(len(values))
    return compared(float(values.mean()), error, len(values))


# scipy 1.17, ttest_1samp(differences, -margin, alternative="greater").
@pytest.mark.parametrize(
    ("differences", "sign", "margin", "p"),
    [(EIGHT, 1, 0.01, 0.02591695), (EIGHT, 1, 0.05, 0.00419190), (EIGHT, 1, 0.1, 0.00059626),
     (TWENTY, 1, 0.01, 0.04918131), (TWENTY, 1, 0.02, 0.00392554), (TWENTY, -1, 0.01, 0.23794971),
     (TWENTY, -1, 0.02, 0.03241097), (TWENTY, -1, 0.05, 9.34025e-06)],
)  # fmt: skip
def test_scores_of_a_corpus_have_a_one_sided_t_test(
    differences: list[float], sign: int, margin: float, p: float
) -> None:
    test = of_samples(differences, sign)
    assert not_worse(test, "higher", margin).p == pytest.approx(p, rel=1e-4)
    # Fewer errors are better.
    turned = replace(test, difference=-test.difference)
    assert not_worse(turned, "lower", margin).p == pytest.approx(p, rel=1e-4)
    # Of few units half of the error is allowed.
    assert not_worse(test, "higher", margin).shown == (p <= 0.025)


# The same, with one more sample that loses as much as any differed.
@pytest.mark.parametrize(
    ("differences", "margin", "p"),
    [([*EIGHT, 0.0, 0.1], 0.01, 0.09572609), ([*EIGHT, 0.0, 0.1], 0.05, 0.01302373),
     # Alone, these have .0469: two samples lose much, and the others are equal.
     (SPARSE, 0.1, 0.18747766), (SPARSE, 0.2, 0.00083407)],
)  # fmt: skip
def test_means_of_samples_have_one_sample_more(
    differences: list[float], margin: float, p: float
) -> None:
    test = of_samples(differences)
    result = not_worse(test, "higher", margin, means=np.array(differences))
    assert result.p == pytest.approx(p, rel=1e-3)


def losses(kind: str, samples: int, seed: int) -> list[float]:
    """Differences of samples: dense, of few samples that lose much, or of steps."""
    rng = np.random.default_rng(seed)
    if kind == "sparse":
        return list(-rng.random(samples) * (rng.random(samples) < 0.1))
    steps = rng.integers(-2, 3, samples) / 4 if kind == "steps" else rng.normal(-0.01, 0.2, samples)
    return [float(step) for step in steps]


@pytest.mark.parametrize(
    ("kind", "samples", "margin", "level"),
    [("dense", 8, 0.2, 0.95), ("dense", 20, 0.1, 0.95), ("dense", 100, 0.05, 0.95),
     ("dense", 500, 0.03, 0.975), ("sparse", 20, 0.2, 0.95), ("sparse", 60, 0.1, 0.95),
     ("sparse", 400, 0.08, 0.9), ("steps", 12, 0.5, 0.95), ("steps", 50, 0.15, 0.95),
     ("steps", 200, 0.1, 0.975)],
)  # fmt: skip
def test_one_sample_more_is_tested_as_scipy_does(
    kind: str, samples: int, margin: float, level: float
) -> None:
    differences = losses(kind, samples, samples)
    for better, sign in (("higher", 1), ("lower", -1)):
        means = sign * np.array(differences)
        result = not_worse(of_samples(list(means)), better, margin, level, means)
        # The sample more loses as much as any differed: (d + m) / (s / sqrt(n + 1)) of n degrees.
        more = [*differences, -max(map(abs, differences))]
        test = stats.ttest_1samp(more, -margin, alternative="greater")
        assert result.p == pytest.approx(test.pvalue, rel=1e-6)
        assert result.low == pytest.approx(test.confidence_interval(level).low, rel=1e-6)
        assert result.shown == (test.pvalue <= 1 - level) == (result.low >= -margin)


# Tango's (1998) score interval of 90%: a margin at its lower end is shown with an error of .05.
@pytest.mark.parametrize(
    ("more", "less", "samples", "low"),
    [(5, 2, 40, -0.03899952521823284), (12, 8, 100, -0.03515415816661225),
     (1, 1, 10, -0.2808270288186012)],
)  # fmt: skip
def test_shares_have_tangos_score_statistic(more: int, less: int, samples: int, low: float) -> None:
    test = compared((more - less) / samples, 0.1, samples, test=MID_P, differing=more + less)
    margin = not_worse(test, "higher", -low)
    assert margin.p == pytest.approx(0.05, abs=1e-6)
    assert margin.low == pytest.approx(low, abs=1e-9)
    assert not not_worse(test, "higher", -low - 0.001).shown
    assert not_worse(test, "higher", -low + 0.001).shown


def test_little_shows_nothing_and_says_why() -> None:
    few = not_worse(compared(0.1, 0.01, 7), "higher", 0.1)
    assert (few.shown, few.why) == (False, "7 units are too few; a margin needs 8")
    assert isnan(few.p)
    unclear = {"its error isn't known": nan, "its differences never vary": 0.0}
    for why, se in unclear.items():
        assert not_worse(compared(0.1, se, 50), "higher", 0.1).why == why
    assert not_worse(compared(0.1, 0.1, 50, withheld="a reason"), "higher", 0.1).why == "a reason"
    # Samples that never differ show a margin if they are many: Tango's interval of 0 of 30.
    same = compared(0.0, 0.0, 30, test=MID_P, differing=0)
    assert not_worse(same, "higher", 0.083).shown
    assert not not_worse(same, "higher", 0.082).shown
    # Worse by the margin to the last digit: the error of saying that it isn't is a half.
    lost = compared(-0.05, 0.1, 100, test=MID_P, differing=15)
    assert not_worse(lost, "higher", 0.05).p == pytest.approx(0.5)


def test_a_ranking_tells_of_a_margin() -> None:
    def report(right: int) -> Any:
        predictions = ["cat"] * right + ["dog"] * (200 - right)
        return Hub(["exact_match", "token_f1", "ttr"]).evaluate(
            predictions=predictions, references=["cat"] * 200
        )

    ranking = compare_all({"base": report(160), "new": report(158)}, trials=200)
    margin = ranking.not_worse("new", "exact_match", 0.05)
    assert (margin.shown, round(margin.difference, 3)) == (True, -0.01)
    assert -0.05 < margin.low < -0.01
    assert json.loads(json.dumps(margin))[1] is True
    # A mean with one sample more loses more.
    assert ranking.not_worse("new", "token_f1", 0.05).low < -0.02
    tight = ranking.not_worse("new", "exact_match", 0.015)
    assert not tight.shown
    assert tight.needed is not None
    assert tight.needed > 200
    with pytest.raises(ParameterError, match="a number above 0"):
        ranking.not_worse("new", "exact_match", 0)
    with pytest.raises(ReportError, match="new has no bleu that was compared with base"):
        ranking.not_worse("new", "bleu", 0.1)
