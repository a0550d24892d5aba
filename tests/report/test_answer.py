"""The beginning of a page: its title, the leaderboard, and forests of differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrichub import Hub, Report, compare_all
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.html import write
from metrichub.report.html.answer import PageHeadline, answer_of, without_common_start
from metrichub.report.html.forest import WIDTH
from metrichub.report.rows import EQUAL

REFERENCES = ["the cat sat on the mat"] * 12
GOOD = ["the cat sat on the mat", "the cat sat on a mat"] * 6
BAD = ["nothing of it at all", "a cat"] * 6


def answer(systems: dict[str, list[str]], *metrics: str) -> tuple[PageHeadline, dict[str, Report]]:
    hub = Hub(list(metrics))
    results = {
        n: hub.evaluate(predictions=t, references=REFERENCES[:1] * len(t))
        for n, t in systems.items()
    }
    ranking = compare_all(results, resamples=50, trials=5000) if len(results) > 1 else None
    intervals = {name: report.intervals(resamples=50) for name, report in results.items()}
    return answer_of(results, ranking, intervals, SignificanceOptions(resamples=50)), results


def test_equal_systems_have_no_significant_difference() -> None:
    headline, _ = answer({"a": GOOD, "b": GOOD}, "exact_match", "wer")
    assert (
        headline.sentences[0]
        == "No significant difference between a and b on either of the two metrics"
    )
    shares, errors = headline.forests
    (row,) = shares.rows
    # Half of the samples are right; Tango's interval of no difference is symmetrical around 0.
    assert row.cells[:2] == ["0.500", "0.500"]
    assert row.cells[3:] == ["+0.0%", "no significant difference, p = 1"]
    assert row.kind == "no"
    assert row.at == shares.zero == pytest.approx(WIDTH / 2)
    # Errors have no upper end, so that they have a scale of their own.
    assert [row.label for row in errors.rows] == ["wer ↓"]


def test_differences_lie_on_the_side_of_zero_that_their_sign_says() -> None:
    headline, reports = answer({"bad": BAD, "good": GOOD}, "wer", "token_f1")
    rows = {row.label: (row, plot) for plot in headline.forests for row in plot.rows}
    for label, metric in (("wer ↓", "wer"), ("token_f1 ↑", "token_f1")):
        row, plot = rows[label]
        assert row.kind == "better"
        assert row.low is not None
        assert row.at is not None
        assert row.high is not None
        assert plot.zero is not None
        assert 0 <= row.low <= row.at <= row.high <= WIDTH
        bad, good = (reports[name][metric]["score"] for name in ("bad", "good"))
        assert (row.at > plot.zero) == (good > bad)
        assert row.cells[3] == f"{100 * (good / bad - 1):+.1f}%"
        assert any(tick.text == "0" and tick.place == plot.zero for tick in plot.ticks)


def test_one_system_stands_on_the_range_of_its_metric() -> None:
    headline, _ = answer({"": GOOD}, "exact_match", "wer")
    assert headline.sentences[0] == "exact_match 0.500 and wer 0.083"
    shares, errors = headline.forests
    # One of two is right: the middle of the range from 0 to 1.
    assert shares.rows[0].at == pytest.approx(WIDTH / 2)
    assert [tick.text for tick in shares.ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert shares.zero is errors.zero is None
    assert answer({"ours.jsonl": GOOD}, "wer")[0].sentences[0] == "ours.jsonl scores 0.083 on wer"
    # A score that is no number has no place.
    (row,) = answer({"": [""] * 12}, "ttr")[0].forests[0].rows
    assert row.cells[0] == "– · 0 of 12"
    assert row.at is row.low is None


def test_outputs_that_are_equal_everywhere_are_shown_once() -> None:
    # The words of the reference in another order: rougeL and rougeLsum miss two of six.
    turned = ["sat on the mat the cat"] * 12
    headline, _ = answer({"a": GOOD, "b": turned}, "rouge")
    assert [column.label for column in headline.columns] == [
        "rouge1",
        "rouge2",
        f"rougeL{EQUAL}rougeLsum",
    ]
    assert headline.sentences[0].startswith("b scores higher than a on rouge1: ")
    # On two lines rougeLsum finds both parts, as rouge1 finds all words.
    headline, _ = answer({"a": GOOD, "b": ["sat on the mat\nthe cat"] * 12}, "rouge")
    assert [column.label for column in headline.columns] == [
        f"rouge1{EQUAL}rougeLsum",
        "rouge2",
        "rougeL",
    ]


def test_why_there_is_no_winner_is_said() -> None:
    headline, _ = answer({"a": [""] * 6 + GOOD[:6], "b": GOOD}, "ttr")
    assert headline.sentences[0].startswith("ttr ranks no system: the systems left different")
    (line,) = [text for text in headline.lacking if text.startswith("no winner")]
    assert "left different samples unanswered (a: 6, b: 0)" in line


THREE = {"base": BAD, "best": GOOD, "twin": [*GOOD[:11], "the cat sat on mats"]}


def test_the_leaderboard_is_ranked_and_letters_join_what_does_not_differ() -> None:
    head, _ = answer(THREE, "token_f1")
    assert [(row.rank, row.system) for row in head.board] == [(1, "best"), (1, "twin"), (3, "base")]
    cells = [row.cells[0] for row in head.board]
    assert [(c.letters, c.leads) for c in cells] == [("a", True), ("a", True), ("b", False)]
    # In the picture blue, grey and orange.
    assert [c.kind for c in cells] == ["best", "close", "worse"]
    assert cells[2].at is not None
    assert cells[2].at < (cells[0].at or 0)
    outcomes = [[kind for kind, *_ in row.against] for row in head.board]
    assert outcomes == [["", "tie", "win"], ["tie", "", "win"], ["loss", "loss", ""]]
    (_, number, words) = head.board[2].against[0]
    assert number == "−"
    assert words.startswith("base worse than best: −0.")
    assert [[row.label for row in plot.rows] for plot in head.forests] == [["best", "twin"]]


def test_a_first_output_without_a_direction_ranks_nothing() -> None:
    # Of abstractness neither more nor less is better.
    hub = Hub(["abstractness", "token_f1"])
    columns = {"references": REFERENCES, "sources": REFERENCES}
    systems = {name: hub.evaluate(predictions=texts, **columns) for name, texts in THREE.items()}
    ranking = compare_all(systems, resamples=50, trials=5000)
    intervals = ranking.intervals()
    answer = answer_of(systems, ranking, intervals, SignificanceOptions(resamples=50))
    assert answer.ranked
    assert answer.ranked.label == "token_f1"
    assert answer.board[0].against[2][0] == "win"
    assert "win" not in {kind for kind, *_ in answer.board[2].against}


def test_letters_overlap_where_neighbours_have_no_significant_difference() -> None:
    # Six samples more right than the one before differ significantly by no test, twelve do.
    size = 40
    texts = {
        name: ["a"] * right + ["x"] * (size - right)
        for name, right in (("high", 34), ("middle", 30), ("low", 26))
    }
    report = {n: Hub("exact_match").evaluate(predictions=t, references=["a"] * size)
             for n, t in texts.items()}  # fmt: skip
    ranking = compare_all(report, resamples=50, trials=2000)
    p = {pair: tests["exact_match"]["score"].p for pair, tests in ranking.pairs.items()}
    assert p["low", "high"] < 0.05 < min(p["middle", "high"], p["low", "middle"])
    answer = answer_of(report, ranking, ranking.intervals(), ranking.options)
    assert [row.cells[0][1] for row in answer.board] == ["a", "ab", "b"]
    # Nobody beats the first two, whom the title names.
    assert [row.rank for row in answer.board] == [1, 1, 2]
    assert answer.sentences[0] == (
        "high scores highest on exact_match (0.850); middle isn't significantly lower, low is"
    )


def test_title_ranks_and_letters_say_the_same_of_every_output() -> None:
    # "exact" has 8 of 24 right and nothing of the others, "near" has five words of six in each.
    systems = {
        "bad": ["nothing"] * 24,
        "exact": REFERENCES[:8] + ["nothing"] * 16,
        "near": ["the cat sat on the"] * 24,
    }
    headline, _ = answer(systems, "exact_match", "token_f1")
    assert headline.sentences[0] == (
        "exact scores highest on exact_match (0.333), ahead of bad (0.000) and near (0.000)"
    )
    assert {row.system: row.cells[0][1:3] for row in headline.board} == {
        "exact": ("a", True), "near": ("b", False), "bad": ("b", False),
    }  # fmt: skip
    # Each output has letters in its own order, whatever the rows are sorted by.
    assert {row.system: row.cells[1][1:3] for row in headline.board} == {
        "exact": ("b", False), "near": ("a", True), "bad": ("c", False),
    }  # fmt: skip


def test_names_lose_what_all_begin_with() -> None:
    names = ["wmt_ours", "wmt_online-A", "wmt_online-B"]
    assert list(without_common_start(names).values()) == ["ours", "online-A", "online-B"]
    assert list(without_common_start(["online", "offline"]).values()) == ["online", "offline"]
    assert without_common_start(["a"]) == {"a": "a"}


def test_a_page_shows_the_intervals_of_a_ranking_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub("wer")
    inputs = {"a": ["a b", "c d"] * 4, "b": ["a b", "c x"] * 4}
    systems = {
        name: hub.evaluate(predictions=texts, references=["a b", "c d"] * 4)
        for name, texts in inputs.items()
    }
    ranking = compare_all(systems, resamples=50, trials=500)
    assert set(ranking.intervals()) == {"a", "b"}
    # They are kept, so that no report is resampled again.
    monkeypatch.delattr(Report, "intervals")
    write(tmp_path / "page.html", systems, resamples=50, trials=500, ranking=ranking)
    assert "Wilson" in (tmp_path / "page.html").read_text(encoding="utf-8")
