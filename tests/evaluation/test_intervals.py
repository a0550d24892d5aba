"""Intervals of scores and of differences, by the number of units that were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage_cases import ENDS, LABELS, Case
from benchmarks.exact_texts import corpora
from metrichub import Hub, Report, compare_all, list_metrics, load_metric
from metrichub.catalog.frontmatter import Scale
from metrichub.data.columns import column_of
from metrichub.evaluation.resample import (
    NOT_ESTIMATED,
    Interval,
    UnitCount,
    difference_interval,
    score_interval,
)

SHARE, UNIT = Scale(0, 1, "higher", share=True), Scale(0, 1, "higher")
T_9, T_7 = 2.2622, 2.3646
"""Student's t for 95% and 9 and 7 degrees of freedom, from printed tables."""
Z = 1.959964


def exact_match(right: Sequence[bool]) -> Report:
    predictions = ["a" if is_right else "b" for is_right in right]
    return Hub("exact_match").evaluate(predictions=predictions, references=["a"] * len(right))


def drawn_means(values: Sequence[float], resamples: int = 4000) -> np.ndarray:
    index = np.random.default_rng(1).integers(0, len(values), (resamples, len(values)))
    return np.asarray(values, float)[index].mean(axis=1)


def of(report: Report, metric: str = "exact_match", output: str = "score") -> Interval:
    return report.intervals(metrics=metric)[metric][output]


@pytest.mark.parametrize(
    ("right", "low", "high"),
    # Of n right ones of n, Wilson's interval reaches down to n / (n + z²).
    [([True], 1 / (1 + Z**2), 1), ([True] * 20, 20 / (20 + Z**2), 1), ([False], 0, 0.793451)],
)
def test_a_share_has_wilsons_interval_from_one_sample_on(
    right: list[bool], low: float, high: float
) -> None:
    interval = of(exact_match(right))
    assert interval.ends == pytest.approx((low, high), abs=1e-6)
    assert interval.method == "Wilson"


def test_the_shares_interval_is_the_published_one() -> None:
    # 81 of 263: Newcombe (1998), "Two-sided confidence intervals for the single proportion".
    interval = of(exact_match([True] * 81 + [False] * 182))
    assert [round(end, 4) for end in interval.ends] == [0.2553, 0.3662]


def test_clusters_count_as_the_samples_that_they_are_worth() -> None:
    # 8 clusters of 5 samples each that are all alike are worth 8 samples, or 7 with Bessel's
    # correction of their variance.
    right = [place < 6 for place in range(8) for _ in range(5)]
    predictions = ["a" if is_right else "b" for is_right in right]
    cluster = [place for place in range(8) for _ in range(5)]
    report = Hub("exact_match").evaluate(
        {"predictions": predictions, "references": ["a"] * 40, "doc": cluster}
    )
    interval = report.intervals(cluster="doc", resamples=20_000)["exact_match"]["score"]
    # Wilson's interval of 75% of 7, with Student's t of 7 degrees in the place of z.
    p, n, t = 0.75, 7, T_7
    middle = (p + t * t / (2 * n)) / (1 + t * t / n)
    half = t / (1 + t * t / n) * sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    assert interval.ends == pytest.approx((middle - half, middle + half), abs=0.02)


def test_fewer_than_100_units_take_students_t() -> None:
    values = [0.1, 0.4, 0.35, 0.8, 0.62, 0.5, 0.45, 0.3, 0.71, 0.2]
    interval = score_interval(
        drawn_means(values, 40_000), float(np.mean(values)), UnitCount(10, 10), None, 0.95
    )
    # The textbook's interval of a mean.
    half = T_9 * float(np.std(values, ddof=1)) / sqrt(10)
    assert interval.low == pytest.approx(np.mean(values) - half, abs=0.004)
    assert interval.high == pytest.approx(np.mean(values) + half, abs=0.004)
    assert interval.method == "bootstrap standard error"
    # Of these resamples: their standard deviation, with Bessel's correction of ten values.
    drawn = drawn_means(values, 50)
    few = score_interval(drawn, float(np.mean(values)), UnitCount(10, 10), None, 0.95)
    assert few.high - np.mean(values) == pytest.approx(T_9 * drawn.std() * sqrt(10 / 9), rel=1e-4)


def test_scores_from_0_to_1_have_wilsons_interval_of_as_many_samples_as_vary_alike() -> None:
    values = [0.5, 0.7, 0.8, 1.0, 1.0, 0.9, 0.6, 1.0, 0.95, 0.55]
    mean, spread = float(np.mean(values)), float(np.var(values, ddof=1))
    interval = score_interval(drawn_means(values, 40_000), mean, UnitCount(10, 10), UNIT, 0.95)
    assert interval.method == "Wilson, bootstrap standard error"
    # Yes/no samples of this mean vary by mean (1 - mean): so many have the mean's variance.
    number = mean * (1 - mean) / (spread / 10)
    for end in interval.ends:
        # The ends of Wilson's interval: so far from the mean that the score test is significant.
        error = sqrt(end * (1 - end) / number)
        assert abs(end - mean) / error == pytest.approx(T_9, abs=0.05)


def test_from_100_units_on_percentiles_are_taken() -> None:
    drawn = np.random.default_rng(0).permutation(np.arange(1000.0))
    interval = score_interval(drawn, 480, UnitCount(100, 100), None, 0.95)
    # 25 of 1,000 resamples lie below, and as many above.
    assert interval.ends == (25, 974)
    assert interval.method == "bootstrap percentiles"
    assert (interval.mean, interval.std) == (499.5, pytest.approx(np.arange(1000).std()))


def score_distance(end: float, mean: float, number: float) -> float:
    """How many standard errors of so many yes/no samples lie between a mean and an end."""
    return abs(end - mean) / sqrt(end * (1 - end) / number)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 5), (-1, 1)])
def test_percentiles_wait_until_a_mean_near_its_end_has_seen_enough(
    low: float, high: float
) -> None:
    # Three of 100 samples aren't at the end, half of the range away: they are all that varies.
    places = np.array([1.0] * 97 + [0.5] * 3)
    values = (low + (high - low) * places).tolist()
    spec = f"recorded(column='x', better='higher', range=[{low}, {high}])"
    report = Hub(spec).evaluate(x=values)
    interval = report.intervals(resamples=20_000)["x"]["score"]
    assert interval.method == of(report, "x").method == "Wilson, bootstrap standard error"
    mean = float(places.mean())
    number = mean * (1 - mean) / (float(places.var(ddof=1)) / 100)
    # Three degrees of freedom for each of the three: Student's t of 9.
    for end in interval.ends:
        distance = score_distance((end - low) / (high - low), mean, number)
        assert distance == pytest.approx(T_9, rel=0.02)
    spread = [low + (high - low) * k / 99 for k in range(100)]
    assert of(Hub(spec).evaluate(x=spread), "x").method == "bootstrap percentiles"


def test_biased_resamples_have_no_say_in_where_an_interval_lies() -> None:
    # As CIDEr's, whose copies lower the weights of words: the mean is two standard errors lower.
    drawn = np.random.default_rng(3).normal(3.8, 0.1, 1000)
    interval = score_interval(drawn, 3.95, UnitCount(200, 200), Scale(0, 10), 0.95)
    assert (interval.low + interval.high) / 2 == pytest.approx(3.95, abs=0.01)
    assert interval.high - interval.low == pytest.approx(2 * 1.972 * 0.1, rel=0.05)  # t of 199


def of_labels(rare: int, wrong: int, labels: Sequence[str] = ()) -> Report:
    """30 samples with one label, the first `wrong` of which are wrong, and `rare` with another."""
    references = ["often"] * 30 + ["rare"] * rare
    predictions = ["rare"] * wrong + references[wrong:]
    cluster = [str(k // 2) for k in range(len(references))]
    data = {"predictions": predictions, "references": references, "doc": cluster}
    return Hub(f"classification(labels={list(labels)!r})").evaluate(data)


MACRO = ("macro_precision", "balanced_accuracy", "macro_recall", "macro_f1", "kappa", "mcc")
TOO_FEW = "are too few; an interval needs 5"


def test_a_mean_over_labels_is_worth_what_its_rarest_label_allows() -> None:
    intervals = of_labels(6, 0).intervals()["classification"]
    # Shares of 30 and of 6 have the mean's variance if they are 4 / (1/30 + 1/6) = 20 samples.
    for output in MACRO[:4]:
        assert intervals[output].ends == pytest.approx((20 / (20 + Z**2), 1), abs=1e-6)
    assert intervals["accuracy"].low == pytest.approx(36 / (36 + Z**2), abs=1e-6)
    # One of 30 is wrong and none of 6: the resamples don't see how little is known of the 6.
    recall = of_labels(6, 1).intervals()["classification"]["macro_recall"]
    # A single error has 3 degrees of freedom.
    mean, t_3 = (29 / 30 + 1) / 2, 3.1824
    assert score_distance(recall.low, mean, 20) == pytest.approx(t_3, rel=0.01)


@pytest.mark.parametrize(
    ("report", "outputs", "why"),
    [
        (of_labels(4, 0), MACRO[1:], f"4 samples with the label 'rare' {TOO_FEW}"),
        (of_labels(0, 0), MACRO[:4], f"0 samples with another label {TOO_FEW}"),
        (
            of_labels(9, 0, ["often", "rare", "absent"]),
            MACRO[2:4],
            f"0 samples with the label 'absent' {TOO_FEW}",
        ),
    ],
)
def test_a_mean_over_labels_has_no_interval_without_samples_of_each(
    report: Report, outputs: Sequence[str], why: str
) -> None:
    intervals = report.intervals()["classification"]
    assert {intervals[output].why for output in outputs} == {why}
    assert all(isnan(intervals[output].low) for output in outputs)
    assert intervals["accuracy"].why is None


def test_labels_are_counted_by_clusters_and_predicted_ones_for_precision() -> None:
    intervals = of_labels(8, 0).intervals(cluster="doc")["classification"]
    assert intervals["macro_f1"].why == f"4 clusters with the label 'rare' {TOO_FEW}"
    precision = of_labels(9, 0).take(list(range(35)))
    assert precision.intervals()["classification"]["macro_precision"].why is None
    never = {"predictions": ["c"] + ["a"] * 29, "references": ["a", "b", "b"] * 10}
    of_never = (
        Hub("classification(labels=['a', 'b'])").evaluate(never).intervals()["classification"]
    )
    assert of_never["macro_precision"].why == f"0 samples with the predicted label 'b' {TOO_FEW}"
    assert of_never["macro_recall"].why is None


def test_several_labels_and_entities_are_counted_by_their_samples() -> None:
    labels = {"references": ['["a", "b"]'] * 4 + ['["a"]'] * 20}
    result = Hub("multi_label(mode='macro_f1')").evaluate(predictions=["a"] * 24, **labels)
    why = f"4 samples with the label 'b' {TOO_FEW}"
    assert [of(result, "multi_label", name).why for name in ("score", "macro_f1")] == [why, why]
    assert of(result, "multi_label", "micro_f1").why is None
    entities = ['[["ORG", "A"], ["ORG", "B"], ["PER", "C"]]'] * 3 + ['[["PER", "C"]]'] * 9
    report = Hub("entity_f1").evaluate(predictions=entities, references=entities)
    assert of(report, "entity_f1", "macro_f1").why == f"3 samples with the label 'ORG' {TOO_FEW}"
    assert of(report, "entity_f1").why is None


def test_a_difference_of_means_over_labels_has_a_p_without_an_interval() -> None:
    test = of_labels(7, 9).compare(of_labels(7, 0))["classification"]["macro_f1"]
    why = "7 samples with the label 'rare' are too few; an interval needs 8"
    assert test.interval.why == why
    assert test.p < 0.05
    enough = of_labels(8, 9).compare(of_labels(8, 0))["classification"]["macro_f1"]
    assert enough.interval.high < 0


def test_nist_has_no_interval_at_any_number_of_samples_and_says_why() -> None:
    for number in (10, 120):
        texts = [f"the cat {k} sat on a mat" for k in range(number)]
        first, other = (
            Hub("nist").evaluate(predictions=predictions, references=texts)
            for predictions in ([f"the cat {k} sat" for k in range(number)], texts)
        )
        why = f"{NOT_ESTIMATED}, as it depends on how many texts differ"
        assert of(first, "nist").why == why
        test = first.compare(other, trials=200)["nist"]["score"]
        assert test.interval.why == of(first, "nist").why
        assert test.p < 0.05


@pytest.mark.parametrize(
    ("case", "size", "runs", "output"),
    [(ENDS[0], 100, 300, "score"), (LABELS[3], 50, 80, "balanced_accuracy")],
)
def test_intervals_hold_what_is_drawn_near_an_end_and_of_rare_labels(
    case: Case, size: int, runs: int, output: str
) -> None:
    held = [covers for covers in case.held(size, runs, 5)[output] if covers is not None]
    # Of intervals that hold it in .95, fewer are a matter of 1 in 200 such tests.
    assert sum(held) >= 0.95 * len(held) - 2.6 * sqrt(len(held) * 0.95 * 0.05)
    assert len(held) > runs / 3


@pytest.mark.parametrize("case", [*ENDS, *LABELS], ids=lambda case: case.of)
def test_the_cases_of_the_benchmark_have_the_scores_that_they_say(case: Case) -> None:
    drawn = case.draw(np.random.default_rng(8), 40_000)
    scores = Hub(f"x = {case.spec}").evaluate(drawn).scores()["x"]
    assert {output: scores[output] for output in case.true} == pytest.approx(case.true, abs=0.03)


def test_an_interval_stays_in_the_range() -> None:
    values = [0.0, 0.1, 0.0, 0.0, 0.0]
    interval = score_interval(drawn_means(values), 0.02, UnitCount(5, 5), Scale(0, None), 0.95)
    assert interval.low == 0
    assert interval.high > 0.05


FEW, MANY = UnitCount(10, 10), UnitCount(200, 200)
APART = (0.1, 0.2, -0.1, 0.3, 0.15, 0.05, 0.2)


@pytest.mark.parametrize(
    ("drawn", "observed", "units", "why"),
    [
        ([0.2, 0.5, 0.7], 0.5, UnitCount(1, 40), "1 sample is too few; an interval needs 5"),
        (
            [0.2, 0.5],
            0.5,
            UnitCount(4, 4, "cluster"),
            "4 clusters are too few; an interval needs 5",
        ),
        ([0.4], 0.5, MANY, "1 resample is too few"),
        ([0.6, 0.7], 0.5, MANY, "2 resamples are too few"),
        ([0.6] * 20, 0.5, MANY, "all resamples have the same score"),
        ([nan] * 1000, 0.5, FEW, NOT_ESTIMATED),
        ([nan] * 1000, 0.5, MANY, NOT_ESTIMATED),
        # The resamples miss the score.
        (np.linspace(0.5, 0.8, 1000), 0.02, MANY, NOT_ESTIMATED),
        (np.linspace(0.5, 0.8, 1000), nan, MANY, None),
    ],
)
def test_a_score_without_an_interval_says_why(
    drawn: Sequence[float], observed: float, units: UnitCount, why: str | None
) -> None:
    for scale in (None, UNIT):
        interval = score_interval(np.array(drawn), observed, units, scale, 0.95)
        assert np.isnan(interval.ends).all()
        assert interval.why == why


@pytest.mark.parametrize(
    ("drawn", "observed", "units", "why"),
    [
        (drawn_means(APART), 0.13, UnitCount(7, 7), "7 samples are too few; an interval needs 8"),
        ([0.4], 0.5, MANY, "1 resample is too few"),
        ([0.6] * 20, 0.5, MANY, "all resamples have the same difference"),
        # They differ by rounding alone.
        ([0, 1e-17] * 500, 0.0, FEW, "all resamples have the same difference"),
        ([1.0] * 100, np.inf, MANY, "the difference is infinite"),
        ([1.0] * 100, nan, MANY, None),
    ],
)
def test_a_difference_without_an_interval_says_why(
    drawn: Sequence[float], observed: float, units: UnitCount, why: str | None
) -> None:
    interval = difference_interval(np.array(drawn), observed, units, UNIT, 0.95)
    assert np.isnan(interval.ends).all()
    assert interval.why == why


def test_only_a_declared_share_has_an_interval_of_few_samples() -> None:
    drawn, units = drawn_means([1.0] * 3 + [0.0]), UnitCount(4, 4)
    assert score_interval(drawn, 0.75, units, SHARE, 0.95).method == "Wilson"
    assert score_interval(drawn, 0.75, units, UNIT, 0.95).method == ""


def test_none_has_no_width() -> None:
    same = {"predictions": ["a b c d"] * 20, "references": ["a b c d"] * 20}
    report = Hub(["bleu", "wer"]).evaluate(**same)
    # BLEU ends at 1: that none of 20 texts is below says no more than 20 right answers of 20.
    assert of(report, "bleu").ends == pytest.approx((20 / (20 + Z**2), 1), abs=1e-6)
    assert of(report, "wer").why == "all resamples have the same score"
    assert isnan(of(report, "wer").low)


def test_resamples_that_are_not_finite_are_left_out() -> None:
    drawn = np.concatenate([np.arange(1000.0), [nan, np.inf]])
    assert score_interval(drawn, 480, UnitCount(100, 100), None, 0.95).ends == (25, 974)
    assert score_interval(drawn, nan, UnitCount(100, 100), None, 0.95).why is None


def tango_distance(more: int, less: int, number: int, difference: float) -> float:
    """How many standard errors the observed difference is off, by its most likely probabilities."""
    # Of the probabilities (less + difference, less) those under which the counts are likeliest.
    low = max(0.0, -difference)
    tried = np.linspace(low, (1 - difference) / 2, 400_001)[1:-1]
    ties = 1 - 2 * tried - difference
    with np.errstate(all="ignore"):
        likelihood = (
            (more * np.log(tried + difference) if more else 0)
            + (less * np.log(tried) if less else 0)
            + (number - more - less) * np.log(ties)
        )
    best = float(tried[np.nanargmax(likelihood)])
    variance = (2 * best + difference - difference * difference) / number
    return ((more - less) / number - difference) / sqrt(variance)


@pytest.mark.parametrize(("more", "less", "number"), [(9, 2, 20), (1, 7, 40), (3, 3, 10)])
def test_a_difference_of_shares_has_tangos_interval(more: int, less: int, number: int) -> None:
    apart = np.array([1.0] * more + [-1.0] * less + [0.0] * (number - more - less))
    difference = (more - less) / number
    units = UnitCount(number, number)
    interval = difference_interval(drawn_means(apart), difference, units, SHARE, 0.95, apart)
    assert interval.method == "Tango"
    # Its ends are where the score test is just significant.
    assert tango_distance(more, less, number, interval.low) == pytest.approx(Z, abs=0.002)
    assert tango_distance(more, less, number, interval.high) == pytest.approx(-Z, abs=0.002)


def test_a_difference_of_shares_by_clusters_has_tangos_interval_of_what_they_are_worth() -> None:
    # 12 clusters of 5 samples that are all alike vary as 12 samples do, 11 by Bessel's correction
    # of their variance; t takes z's place.
    apart = np.repeat([1.0] * 7 + [-1.0] * 2 + [0.0] * 3, 5)
    of_clusters = drawn_means(apart[::5], 40_000)
    units = UnitCount(12, 60, "cluster")
    interval = difference_interval(of_clusters, 5 / 12, units, SHARE, 0.95, apart)
    assert interval.method == "Tango"
    # At its ends the score test of 11 samples, 7 / 12 and 2 / 12 of which differ, is just
    # significant.
    t_11 = 2.2010  # for 95% and 11 degrees of freedom, from printed tables
    low = tango_distance(7, 2, 12, interval.low) * sqrt(11 / 12)
    high = tango_distance(7, 2, 12, interval.high) * sqrt(11 / 12)
    assert (low, high) == (pytest.approx(t_11, abs=0.05), pytest.approx(-t_11, abs=0.05))


def test_systems_that_never_differ_leave_room_for_a_difference() -> None:
    ranking = compare_all({"A": exact_match([True] * 30), "B": exact_match([True] * 30)})
    test = ranking.pairs["B", "A"]["exact_match"]["score"]
    # z² / (n + z²): what Tango's interval of no discordant pair comes to.
    end = Z**2 / (30 + Z**2)
    assert test.interval.ends == pytest.approx((-end, end), abs=1e-6)


def test_an_output_that_no_card_describes_is_no_share() -> None:
    # A share has the differences of all outputs computed, also of one without a scale.
    apart = np.linspace(-1, 2, 120)
    interval = difference_interval(drawn_means(apart), 0.5, UnitCount(120, 120), None, 0.95, apart)
    assert interval.method == "bootstrap percentiles"


def test_a_difference_stays_between_the_ranges_ends() -> None:
    apart = np.array([1.0] * 9 + [0.6])
    interval = difference_interval(drawn_means(apart), 0.96, UnitCount(10, 10), UNIT, 0.95)
    assert interval.high == 1


def test_an_interval_holds_0_where_the_test_is_not_significant() -> None:
    # 4 of 8 pairs differ, all one way: p is 1 / 2 ** 4, while Tango's interval leaves 0 out.
    first, other = exact_match([True] * 8), exact_match([True] * 4 + [False] * 4)
    ranking = compare_all({"A": other, "B": first})
    test = ranking.pairs["B", "A"]["exact_match"]["score"]
    assert test.randomization_p == pytest.approx(1 / 16)
    assert test.interval.low == 0
    assert test.interval.method == "Tango, extended to 0"
    (line,) = (line for line in ranking.foot() if line.startswith("extended"))
    assert line.endswith("the test isn't significant: the interval of exact_match")
    apart = np.array([1.0] * 4 + [0.0] * 4)
    alone = difference_interval(drawn_means(apart), 0.5, UnitCount(8, 8), SHARE, 0.95, apart)
    assert alone.low > 0
    assert alone.high == test.interval.high


REAL = corpora(Path("no such folder"))[0].part(200)
"""Summaries of news, which are in the repository."""
SLOW = ("codebleu", "ter", "eed", "character")
COLUMNS = {
    "predictions": REAL.predictions,
    "references": REAL.references,
    "sources": REAL.sources,
    "contexts": [[source] for source in REAL.sources],
}


@pytest.mark.parametrize(
    "name",
    [
        card.name
        for card in list_metrics(judge="none")
        if card.distribution == "metrichub"
        and not card.card.embedder
        and {column_of(name) for name in load_metric(card.name).inputs()} <= COLUMNS.keys()
    ],
)
def test_an_interval_holds_the_score_of_real_texts(name: str) -> None:
    most = 20 if name in SLOW else 200
    report = Hub(name).evaluate({column: texts[:most] for column, texts in COLUMNS.items()})
    scores = report.results[name].scores()
    for output, interval in report.intervals(resamples=100)[name].items():
        assert isnan(interval.low) == bool(interval.why) or isnan(scores[output]), output
        assert isnan(interval.low) or interval.low <= scores[output] <= interval.high, output
