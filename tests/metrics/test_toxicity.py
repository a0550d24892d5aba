"""Toxicity and bias: the share of a text's opinions that a policy objects to."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

BOTH = pytest.mark.parametrize(("name", "word"), [("toxicity", "toxic"), ("bias", "biased")])


def split(fields: Fields) -> list[str]:
    """The opinions of a scripted text: what stands between its commas, none in "facts"."""
    text = str(fields["text"])
    return [] if text == "facts" else text.split(",")


def evaluated(
    name: str, texts: Sequence[Any], words: Sequence[str] | Callable[[Fields], Any], **more: Any
) -> Report:
    reduce = more.pop("reduce", None)
    judge = Scripted({"opinions": split, "toxic": words, "biased": words})
    hub = Hub(load_metric(name, judge=judge, **more))
    return hub.evaluate(predictions=texts, reduce=reduce)


@BOTH
@pytest.mark.parametrize(
    ("words", "share", "any_"),
    [
        (["no", "yes"], 1 / 2, 1),
        (["no", "no"], 0, 0),
        (["yes"], 1, 1),
        (["yes", "no", "no"], 1 / 3, 1),
    ],
)
def test_the_score_is_the_share_of_objectionable_opinions(
    name: str, word: str, words: list[str], share: float, any_: int
) -> None:
    report = evaluated(name, [",".join("abc"[: len(words)])], words)
    assert report.scores()[name] == {"score": pytest.approx(share), word: any_}


@BOTH
def test_a_text_without_an_opinion_has_no_share(name: str, word: str) -> None:
    report = evaluated(name, ["facts"], ["yes"])
    scores = report.scores()[name]
    assert math.isnan(scores["score"])
    assert scores[word] == 0
    assert report.explain(name, 0).steps == [{"opinions": []}]
    assert report.notes()[name] == ["1 without an opinion, left out of the score"]


@BOTH
def test_a_corpus_is_the_mean_of_texts_with_an_opinion(name: str, word: str) -> None:
    # Shares 1/2 and 1 (the script begins anew for each text); no share; not scored.
    report = evaluated(name, ["a,b", "a", "facts", " \n"], ["yes", "no"])
    # (1/2 + 1) / 2, and 2 of the 3 texts that aren't blank.
    assert report.scores()[name] == {"score": 0.75, word: pytest.approx(2 / 3)}
    assert report.counts()[name] == {"unanswered": 1}
    assert report.samples()[name]["score"][:2].tolist() == [0.5, 1]


@BOTH
def test_empty_0_counts_a_text_without_an_opinion_as_0(name: str, word: str) -> None:
    report = evaluated(name, ["a,b", "facts"], ["yes", "no"], empty=0)
    # (1/2 + 0) / 2, and 1 text of 2.
    assert report.scores()[name] == {"score": 0.25, word: 0.5}
    assert report.samples()[name]["score"].tolist() == [0.5, 0]
    assert name not in report.notes()


@BOTH
@pytest.mark.parametrize("empty", [None, 0])
@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_blank_text_is_undefined_and_asks_nothing(
    name: str, word: str, empty: int | None, text: str
) -> None:
    hub = Hub(load_metric(name, judge=Scripted({}), empty=empty))
    report = hub.evaluate(predictions=[text])
    assert report.explain(name, 0)[:2] == ("unanswered", "the text is blank")
    assert report.counts()[name]["unanswered"] == 1
    assert math.isnan(report.scores()[name][word])


@BOTH
def test_every_opinion_has_its_verdict_and_reason(name: str, word: str) -> None:
    step = evaluated(name, ["a,b"], ["no", "yes"]).explain(name, 0).steps[0]
    assert step["opinions"] == [
        {"index": 0, "item": "a", "verdict": "no", "reason": "as scripted"},
        {"index": 1, "item": "b", "verdict": "yes", "reason": "as scripted"},
    ]


@BOTH
@pytest.mark.parametrize(("reduce", "expected"), [(None, 0), ("worst", 1), ("mean", 0.5)])
def test_the_best_of_several_candidates_is_the_lowest(
    name: str, word: str, reduce: str | None, expected: float
) -> None:
    def words(fields: Fields) -> list[str]:
        return ["yes" if fields["text"] == "bad" else "no"]

    report = evaluated(name, [["bad", "good"]], words, reduce=reduce)
    assert report.scores()[name]["score"] == expected


@BOTH
def test_the_text_stands_beside_its_opinions(name: str, word: str) -> None:
    seen: list[Fields] = []

    def words(fields: Fields) -> list[str]:
        seen.append(fields)
        return ["no"]

    evaluated(name, ["a,b"], words)
    assert seen == [{"text": "a,b"}]
