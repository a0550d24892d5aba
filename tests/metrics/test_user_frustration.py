"""User frustration: three labels, their numbers, and conversations of several parts."""

from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import MetricError
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

NAME = "user_frustration"
TALK = [{"role": "user", "content": "AGAIN?!"}, {"role": "assistant", "content": "All is well."}]


def evaluated(judge: Any, *talks: Any, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, judge=judge, **parameters)).evaluate(messages=talks or [TALK])


# MLflow's labels; only unresolved frustration is a bad end.
@pytest.mark.parametrize(
    ("label", "numbers"),
    [("none", (1, 0, 0)), ("resolved", (1, 1, 0)), ("unresolved", (0, 1, 1))],
)
def test_each_label_has_its_numbers(label: str, numbers: Sequence[int]) -> None:
    scores = evaluated(Scripted({"frustration": [label]})).scores()[NAME]
    assert (scores["score"], scores["frustrated"], scores["unresolved"]) == numbers


def test_a_corpus_has_shares_of_conversations() -> None:
    def label(fields: Fields) -> list[str]:
        return [next(word for word in ("none", "unresolved") if word in fields["conversation"][0])]

    talks = [[{"role": "user", "content": word}] for word in ("none", "unresolved", "none", "none")]
    scores = evaluated(Scripted({"frustration": label}), *talks).scores()[NAME]
    assert scores == {"score": 3 / 4, "frustrated": 1 / 4, "unresolved": 1 / 4}


def test_several_judges_make_fractions() -> None:
    judges = [
        Scripted({"frustration": [label]}, label=f"judge {place}")
        for place, label in enumerate(["none", "resolved", "unresolved", "unresolved"])
    ]
    scores = Hub(NAME, judge=judges, vote="mean").evaluate(messages=[TALK]).scores()
    assert scores == {NAME: {"score": 1 / 2, "frustrated": 3 / 4, "unresolved": 1 / 2}}


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        (["none", "none", "none"], "none"),
        (["unresolved", "none", "none"], "unresolved"),
        (["unresolved", "resolved", "none"], "resolved"),
        (["resolved", "unresolved", "none"], "unresolved"),
    ],
)
def test_the_last_part_with_frustration_decides(labels: list[str], verdict: str) -> None:
    def label(fields: Fields) -> list[str]:
        (message,) = fields["conversation"]
        return [next(text for place, text in enumerate(labels) if f"Part {place}" in message)]

    talk = [{"role": "user", "content": f"Part {i}. " * 60} for i in range(3)]
    report = evaluated(Scripted({"frustration": label}), talk, limit_tokens=100)
    assert report.explain(NAME, 0).steps[0]["frustration"][0]["verdict"] == verdict


@pytest.mark.parametrize("talk", [[], TALK[1:], [{"role": "user", "content": ""}, *TALK[1:]]])
def test_without_a_word_of_the_user_it_is_undefined_and_asks_nothing(talk: list[Any]) -> None:
    report = evaluated(Scripted({}), talk)
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the user says nothing")
    assert report.counts()[NAME]["unanswered"] == 1


def test_a_label_of_the_judges_own_is_an_error() -> None:
    with pytest.raises(MetricError, match="'angry', which is none of 'none'"):
        evaluated(Scripted({"frustration": ["angry"]}))
