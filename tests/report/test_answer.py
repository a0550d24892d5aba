"""What a page begins with: who is better, in words, in a chart and in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrichub import Hub, Report, compare_all
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html import write
from metrichub.report.html.answer import WIDTH, PageAnswer, answer_of

REFERENCES = ["the cat sat on the mat"] * 12
GOOD = ["the cat sat on the mat", "the cat sat on a mat"] * 6
BAD = ["nothing of it at all", "a cat"] * 6


def answer(systems: dict[str, list[str]], *metrics: str) -> tuple[PageAnswer, dict[str, Report]]:
    hub = Hub(list(metrics))
    found = {n: hub.evaluate(predictions=t, references=REFERENCES) for n, t in systems.items()}
    ranking = compare_all(found, resamples=50, trials=500) if len(found) > 1 else None
    intervals = {name: report.intervals(resamples=50) for name, report in found.items()}
    return answer_of(found, ranking, intervals, SignificanceOptions(resamples=50)), found


def test_the_better_system_is_said_and_marked_in_the_metrics_own_direction() -> None:
    told, reports = answer({"bad": BAD, "good": GOOD}, "wer", "token_f1")
    assert [s.split(" (")[0] for s in told.sentences] == ["good beats bad on wer"]
    assert "token_f1" in told.sentences[0]
    wer, f1 = told.charts
    assert [chart.label for chart in told.charts] == ["wer ↓", "token_f1 ↑"]
    for chart in (wer, f1):
        assert [(one.system, one.best) for one in chart.ranges] == [("bad", False), ("good", True)]
    # Less is better and stands further left; more is better and stands further right.
    places = {chart.label: [one.at or 0 for one in chart.ranges] for chart in told.charts}
    assert places["wer ↓"][0] > places["wer ↓"][1]
    assert places["token_f1 ↑"][0] < places["token_f1 ↑"][1]
    assert wer.ranges[0].score.number == f"{reports['bad'].scores()['wer']['score']:.3f}"
    assert told.board is not None
    assert told.board.head == ["system", "wer ↓", "token_f1 ↑"]


def test_intervals_lie_in_the_chart_around_their_score() -> None:
    told, reports = answer({"bad": BAD, "good": GOOD}, "wer")
    (chart,) = told.charts
    found = [reports[n].intervals(resamples=50)["wer"]["score"] for n in ("bad", "good")]
    ends = [end for interval in found for end in interval[:2]]
    assert (chart.start, chart.end) == (f"{min(ends):.3f}", f"{max(ends):.3f}")
    for one in chart.ranges:
        assert one.low is not None
        assert one.high is not None
        assert one.at is not None
        assert 0 <= one.low <= one.at <= one.high <= WIDTH


def test_one_system_stands_on_the_range_of_its_metric() -> None:
    told, _ = answer({"": GOOD}, "exact_match")
    (chart,) = told.charts
    assert (chart.start, chart.end) == ("0.000", "1.000")
    # One of two is right: the middle.
    assert chart.ranges[0].at == pytest.approx(WIDTH / 2)
    assert told.sentences == ()
    assert told.board is None


def test_a_score_that_is_no_number_has_no_place() -> None:
    told, _ = answer({"": [""] * 12}, "ttr")
    assert not told.charts
    assert told.board is not None
    assert told.board.head[-1] == "unanswered"
    assert {row[-1] for row in told.board.rows} == {12}


def test_equal_systems_are_in_the_middle_and_none_is_marked() -> None:
    told, _ = answer({"a": GOOD, "b": GOOD}, "exact_match")
    (chart,) = told.charts
    assert [one.best for one in chart.ranges] == [False, False]
    assert chart.ranges[0][1:] == chart.ranges[1][1:]


def test_a_page_shows_the_intervals_of_a_ranking_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub("wer")
    given = {"a": ["a b", "c d"] * 4, "b": ["a b", "c x"] * 4}
    systems = {
        name: hub.evaluate(predictions=texts, references=["a b", "c d"] * 4)
        for name, texts in given.items()
    }
    ranking = compare_all(systems, resamples=50, trials=500)
    assert set(ranking.intervals()) == {"a", "b"}
    # They are kept, so that no report is resampled again.
    monkeypatch.delattr(Report, "intervals")
    write(tmp_path / "page.html", systems, resamples=50, trials=500, ranking=ranking)
    assert "Wilson" in (tmp_path / "page.html").read_text(encoding="utf-8")
