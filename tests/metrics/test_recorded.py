"""Recorded: numbers of other programs, with the statistics of any metric."""

import math
from fractions import Fraction
from pathlib import Path

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import MetricError, ReportError

ACC = "recorded(column='acc', better='higher')"


def test_the_score_is_the_mean_of_what_is_there() -> None:
    report = Hub(ACC).evaluate(acc=[0.5, None, "0.25", " 1 ", "nan", "n/a", float("inf")])
    # (0.5 + 0.25 + 1) / 3
    assert report.scores() == {"acc": {"score": pytest.approx(1.75 / 3)}}
    assert report.counts() == {"acc": {"unscored": 4}}
    assert [report.explain("acc", sample).reason for sample in (1, 5)] == [
        "no acc is recorded",
        "'n/a' isn't a number",
    ]


@pytest.mark.parametrize(
    ("numbers", "lost"),
    [
        ([1e308] * 3, 3),
        ([1.7976931348623157e308, 2.0, 4.0], 1),
        (["-1e308", 1e151, "1e150", -2.0], 2),
        ([1e16, 1.0, -1e16], 0),
        ([1e100, 3.0, -1e100, 1e-3], 0),
        ([1e150, 1e150, -1e150, -1e150], 0),
        ([0.1] * 10 + [-0.1] * 10 + [1e-17], 0),
        ([0.0, -0.0, 0.0], 0),
    ],
)
def test_the_mean_is_exact_where_numbers_cancel_and_none_where_they_are_too_large(
    numbers: list[float | str], lost: int
) -> None:
    report = Hub(ACC).evaluate(acc=numbers)
    # Rational numbers have no error.
    finite = [Fraction(float(x)) for x in numbers if abs(float(x)) <= 1e150]
    expected = float(sum(finite) / len(finite)) if finite else math.nan
    assert report["acc"]["score"] == pytest.approx(expected, rel=1e-15, abs=0, nan_ok=True)
    assert report.counts()["acc"].get("unscored", 0) == lost
    reasons = [report.explain("acc", sample).reason for sample in range(len(numbers))]
    assert sum(str(why).endswith(" is too large for a mean") for why in reasons) == lost
    # The same in any order and in parts that are put together.
    half = len(numbers) // 2
    parts = [Hub(ACC).evaluate(acc=part) for part in (numbers[half:], numbers[:half])]
    assert str(parts[0].merge(parts[1])["acc"]) == str(report["acc"])


def test_true_and_false_are_a_share_also_as_texts() -> None:
    flags = [True, False, True, True]
    for acc in (flags, list(map(str, flags))):
        report = Hub(ACC).evaluate(acc=acc)
        assert report["acc"]["score"] == 0.75
        assert report.intervals()["acc"]["score"].method == "Wilson"


def test_numbers_that_happen_to_be_0_and_1_are_no_share_unless_said() -> None:
    flags = [1, 0, 1, 1]
    interval = Hub(ACC).evaluate(acc=flags).intervals()["acc"]["score"]
    assert interval.why == "4 samples are too few; an interval needs 5"
    report = Hub("recorded(column='acc', share=True)").evaluate(acc=flags)
    assert report.intervals()["acc"]["score"].method == "Wilson"
    # One number among True and False makes no share either.
    mixed = Hub(ACC).evaluate(acc=[True, 0, True, True])
    assert mixed.intervals()["acc"]["score"].why == interval.why


def test_nothing_recorded_is_on_the_scale_of_the_card() -> None:
    [result] = Hub(ACC).evaluate(acc=[None, "n/a"]).results.values()
    scale = result.scale("score")
    assert scale == result.metric.card.scale("score")
    assert scale is None or not scale.share


def test_a_share_leaves_out_what_is_not_recorded() -> None:
    report = Hub("recorded(column='acc', share=True)").evaluate(acc=[1, None, 0, "n/a"])
    assert report.scores() == {"acc": {"score": 0.5}}
    assert report.counts() == {"acc": {"unscored": 2}}


def test_a_column_with_a_plural_name_has_one_number_a_sample() -> None:
    report = Hub("recorded(column='words')").evaluate(words=[[2], [4.0], [], [1, 2]])
    assert report.scores() == {"words": {"score": 3.0}}
    assert report.counts() == {"words": {"unscored": 2}}


def test_each_system_has_numbers_of_its_own() -> None:
    ids = [f"q{number}" for number in range(20)]
    ours = Hub(ACC).evaluate(id=ids, acc=[True] * 16 + [False] * 4)
    theirs = Hub(ACC).evaluate(id=ids, acc=[True] * 6 + [False] * 14)
    comparison = ours.compare(theirs)["acc"]["score"]
    assert comparison.difference == pytest.approx(0.5)
    assert comparison.p < 0.05


def test_sums_by_a_key_are_compared_too() -> None:
    ids = [f"q{number}" for number in range(20)]
    hub = Hub([ACC, "exact_match"])
    texts = {"id": ids, "predictions": ids}
    options = {"samples": False, "key": "id"}
    ours = hub.evaluate(acc=[1] * 16 + [0] * 4, references=ids, **texts, **options)
    theirs = hub.evaluate(acc=[1] * 6 + [0] * 14, references=ids, **texts, **options)
    assert ours.compare(theirs)["acc"]["score"].difference == pytest.approx(0.5)
    other = hub.evaluate(acc=[1] * 20, references=ids[::-1], **texts, **options)
    with pytest.raises(ReportError, match="the systems have different references"):
        ours.compare(other)


def test_a_report_loads_with_the_scale_that_it_was_saved_with(tmp_path: Path) -> None:
    report = Hub("recorded(column='acc', better='higher', range=(0, 1))").evaluate(acc=[0.5, 1.0])
    report.save(tmp_path / "run.json")
    loaded = Report.load(tmp_path / "run.json")
    assert loaded.signatures() == report.signatures()
    scale = loaded.results["acc"].scale("score")
    assert scale is not None
    assert (scale.low, scale.high, scale.better) == (0, 1, "higher")


def test_sums_without_samples_know_that_they_are_shares() -> None:
    flags = [True, False] * 40
    interval = Hub(ACC).evaluate(acc=flags).intervals()["acc"]["score"]
    summed = Hub(ACC).evaluate(acc=flags, samples=False).intervals()["acc"]["score"]
    assert interval.method == "Wilson"
    assert summed.method == interval.method


def test_what_is_outside_the_range_is_an_error() -> None:
    with pytest.raises(MetricError, match="acc: 2 in the column 'acc' lies outside"):
        Hub("recorded(column='acc', range=(0, 1))").evaluate(acc=[0, 2])
    with pytest.raises(MetricError, match=r"acc: 0\.5 in the column 'acc' is neither 0 nor 1"):
        Hub("recorded(column='acc', share=True)").evaluate(acc=[1, 0.5])


def test_the_metric_is_called_as_its_column() -> None:
    assert load_metric("recorded", column="acc,none").name == "acc_none"
    assert load_metric("recorded").name == "recorded"
    assert load_metric("mine = recorded(column='acc')").name == "mine"
