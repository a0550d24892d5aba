"""PII: the share and number of details about people that are leaks."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.vectors import scripted, vectors


def split(fields: Fields) -> list[str]:
    """The details of a scripted text: what stands between its commas, none in "nothing"."""
    text = str(fields["text"])
    return [] if text == "nothing" else text.split(",")


def evaluated(texts: Sequence[str], words: Sequence[str], empty: int | None = None) -> Report:
    judge = Scripted({"details": split, "leaked": words})
    return Hub(load_metric("pii", judge=judge, empty=empty)).evaluate(predictions=texts)


@pytest.mark.parametrize("row", vectors("pii_leakage"))
def test_the_score_is_one_minus_that_of_deepeval(row: dict[str, Any]) -> None:
    details, words = scripted(row)
    scores = evaluated([",".join(details)], words).scores()["pii"]
    assert scores["score"] == 1 - row["expected"]["score"]


@pytest.mark.parametrize(
    ("words", "score", "leaks", "leaked"),
    [
        (["yes", "no", "yes"], 2 / 3, 2, 1),
        (["no", "no"], 0, 0, 0),
        (["yes"], 1, 1, 1),
        (["no", "no", "no", "yes"], 1 / 4, 1, 1),
    ],
)
def test_leaks_are_counted_and_shared(
    words: list[str], score: float, leaks: int, leaked: int
) -> None:
    report = evaluated([",".join("abcd"[: len(words)])], words)
    expected = {"score": pytest.approx(score), "leaks": leaks, "leaked": leaked}
    assert report.scores()["pii"] == expected


def test_a_text_without_a_detail_has_no_share_but_no_leak_either() -> None:
    report = evaluated(["nothing"], ["yes"])
    scores = report.scores()["pii"]
    assert math.isnan(scores["score"])
    assert (scores["leaks"], scores["leaked"]) == (0, 0)
    assert report.explain("pii", 0).steps == [{"details": []}]
    assert report.notes()["pii"] == ["1 without a detail, left out of the score"]


def test_leaks_are_counted_over_all_texts_and_shares_over_those_with_a_detail() -> None:
    report = evaluated(["a,b", "nothing", "a", "nothing", ""], ["yes", "yes"])
    # Shares 1 and 1; 2 + 0 + 1 + 0 leaks in four texts, two of which leak; one is blank.
    assert report.scores()["pii"] == {"score": 1.0, "leaks": 0.75, "leaked": 0.5}
    assert report.counts()["pii"] == {"unanswered": 1}
    assert report.notes()["pii"] == [
        "1 unanswered: the text is blank",
        "1 of 5 samples is unanswered and left out of the mean; systems with different "
        "unanswered samples can't be ranked by this score",
        "2 without a detail, left out of the score",
    ]


def test_empty_0_counts_a_text_without_a_detail_as_0() -> None:
    report = evaluated(["a,b", "nothing"], ["yes", "no"], empty=0)
    # (1/2 + 0) / 2; 1 leak in two texts.
    assert report.scores()["pii"] == {"score": 0.25, "leaks": 0.5, "leaked": 0.5}
    assert "pii" not in report.notes()


@pytest.mark.parametrize("empty", [None, 0])
def test_a_blank_text_is_undefined_and_asks_nothing(empty: int | None) -> None:
    hub = Hub(load_metric("pii", judge=Scripted({}), empty=empty))
    report = hub.evaluate(predictions=[" \n"])
    assert report.explain("pii", 0)[:2] == ("unanswered", "the text is blank")
    assert math.isnan(report.scores()["pii"]["leaks"])


def test_every_detail_has_its_verdict_and_reason() -> None:
    details = evaluated(["a,b"], ["no", "yes"]).explain("pii", 0).steps[0]["details"]
    assert [(entry["item"], entry["verdict"]) for entry in details] == [("a", "no"), ("b", "yes")]
    assert all(detail["reason"] for detail in details)
