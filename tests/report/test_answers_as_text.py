"""What a report answers as text: its tables, its line, and what it has no intervals of."""

from __future__ import annotations

from typing import Any

import pytest

from metrichub import Hub, Report, compare_all
from metrichub.errors import ReportError
from metrichub.evaluation import significance
from metrichub.evaluation.resample import NO_INTERVAL, SEED
from metrichub.report.by_output import ByOutput
from tests.toy_metrics import Variety

COLUMNS = {"predictions": ["a b", "a c"] * 5, "references": ["a b"] * 10, "doc": [*range(5)] * 2}
HOW: dict[str, Any] = {"level": 0.9, "resamples": 7, "seed": 3, "cluster": "doc"}


@pytest.fixture(scope="module")
def report() -> Report:
    return Hub(["wer", "exact_match"]).evaluate(COLUMNS)


def test_what_was_pooled_by_key_has_intervals_of_the_metrics_that_add_up_alone() -> None:
    hub = Hub([Variety(), "wer"])
    rows = [{"prediction": f"a b{i % 2}", "reference": "a b0", "id": i} for i in range(12)]
    summed = hub.evaluate(rows, samples=False, key="id")
    found = summed.intervals(resamples=20)
    assert list(found) == ["variety", "wer"]
    reasons = {interval.why for interval in found["variety"].values()}
    assert reasons == {significance.NOT_KEPT}
    assert found["variety"].keys() == summed.results["variety"].scores().keys()
    # Half of the samples have one of two words wrong.
    low, high, *_ = found["wer"]["score"]
    assert low < 0.25 < high
    with pytest.raises(ReportError, match="pooled"):
        summed.intervals(metrics="variety")


def test_a_metric_that_read_almost_nothing_has_no_interval_and_no_reason() -> None:
    texts = ["中文"] * 6 + ["a"] * 2
    report = Hub("rouge").evaluate(predictions=texts, references=texts)
    (result,) = report.results.values()
    assert result.mostly_unread
    (found,) = report.intervals(resamples=9).values()
    # As text, since nan is equal to nothing.
    assert {*map(str, found.values())} == {str(NO_INTERVAL)}


def test_a_ranking_keeps_what_it_was_asked_for(report: Report) -> None:
    found = compare_all({"a": report, "b": report}, metrics="wer", trials=11, **HOW)
    assert found.options._asdict() == {**HOW, "trials": 11}
    assert list(found.pairs["b", "a"]) == ["wer"]
    usual = compare_all({"a": report, "b": report}, metrics="wer").options
    assert usual == (0.95, 1000, 10_000, SEED, None)
    assert found.intervals() == dict.fromkeys("ab", report.intervals(**HOW))


def test_a_dictionary_of_values_is_shown_as_its_table() -> None:
    shown = str(ByOutput({"m": {"score": NO_INTERVAL._replace(low=0.25)}})).splitlines()
    assert shown[0].split() == ["metric", "output", "low", "high", "mean", "std", "method", "why"]
    assert shown[1].split() == ["m", "score", "0.2500", *"–––", "–"]


def test_comparisons_are_shown_with_each_sentence_once(report: Report) -> None:
    found = report.compare(report, resamples=7, trials=11)
    shown = str(found).splitlines()
    assert shown[0].split() == [
        *("metric", "output", "score", "other", "difference", "low", "high", "p")
    ]
    outputs = [(metric, name) for metric, own in found.items() for name in own]
    assert [tuple(line.split()[:2]) for line in shown[1 : len(outputs) + 1]] == outputs
    test = found["wer"]["score"]
    assert shown[1].split()[2:5] == ["0.2500", "0.2500", "0.0000"]
    assert shown[1].split()[-1] == "1.0000"
    assert shown[len(outputs) + 1 :] == list(
        dict.fromkeys(t.sentence for own in found.values() for t in own.values() if t.sentence)
    )
    assert test.sentence in shown
    withheld = ByOutput({"wer": {"score": test._replace(withheld="a reason")}})
    assert str(withheld).splitlines()[2:] == ["a reason"]
    assert "<p>a reason</p>\n" in withheld._repr_html_()


def test_a_report_is_told_in_a_line(report: Report) -> None:
    assert repr(report) == "<Report of 10 samples: wer 0.2500, exact_match 0.5000>"


def test_tables_have_intervals_only_where_they_are_asked_for(report: Report) -> None:
    assert report.to_csv().splitlines()[0] == "metric,output,score"
    pooled = report.pool()
    assert pooled.to_csv() == report.to_csv()
    assert pooled.to_markdown() == report.to_markdown()
    with pytest.raises(ReportError, match="pooled"):
        pooled.to_csv(intervals=True)
