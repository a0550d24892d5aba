"""Conversation completeness: satisfied over all intents; deepeval's values."""

from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.vectors import vectors

NAME = "conversation_completeness"
TALK = [
    {"role": "user", "content": "An egg and a tea, please."},
    {"role": "assistant", "content": "Here is your egg."},
]


def evaluated(script: dict[str, Any], *talks: Any, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, judge=Scripted(script), **parameters)).evaluate(messages=talks)


@pytest.mark.parametrize(
    ("satisfied", "score", "complete"),
    [(["yes", "no"], 1 / 2, 0), (["yes", "yes"], 1, 1), (["no", "no"], 0, 0)],
)
def test_the_score_is_satisfied_over_intents(
    satisfied: list[str], score: float, complete: int
) -> None:
    report = evaluated({"intents": ["egg", "tea"], "satisfied": satisfied}, TALK)
    assert report.scores()[NAME] == {"score": score, "complete": complete}


def test_a_corpus_is_the_mean_over_conversations_and_the_share_of_complete_ones() -> None:
    def intents(fields: Fields) -> list[str]:
        return ["a", "b", "c", "d"] if "four" in " ".join(fields["conversation"]) else ["a"]

    script = {"intents": intents, "satisfied": ["yes", "no", "no", "no"]}
    report = evaluated(script, TALK, [{"role": "user", "content": "four"}, TALK[1]])
    # (1 + 1/4) / 2, where pooled intents would give 2/5.
    assert report.scores()[NAME] == {"score": 0.625, "complete": 0.5}


def test_the_judge_sees_the_conversation_in_both_calls() -> None:
    seen: list[Fields] = []

    def intents(fields: Fields) -> list[str]:
        seen.append(fields)
        return ["egg"]

    def satisfied(fields: Fields) -> list[str]:
        seen.append(fields)
        return ["yes"]

    evaluated({"intents": intents, "satisfied": satisfied}, TALK)
    first, second = seen
    assert first == second
    assert list(first) == ["conversation"]
    assert len(first["conversation"]) == 2


@pytest.mark.parametrize("talk", [[], TALK[1:]])
def test_a_user_who_says_nothing_asks_for_nothing_and_no_judge_is_called(talk: Any) -> None:
    report = evaluated({}, talk)
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the user asks for nothing")
    assert evaluated({}, talk, empty=1).scores()[NAME] == {"score": 1, "complete": 1}


def test_every_intent_has_its_verdict_and_reason() -> None:
    report = evaluated({"intents": ["egg", "tea"], "satisfied": ["yes", "no"]}, TALK)
    steps = report.explain(NAME, 0).steps[0]["intents"]
    assert [(step["item"], step["verdict"]) for step in steps] == [("egg", "yes"), ("tea", "no")]


@pytest.mark.parametrize("row", vectors(NAME))
def test_deepeval_s_values(row: dict[str, Any]) -> None:
    scripted = row["scripted"]
    verdicts = [
        verdict["verdict"] for verdict in scripted.get("ConversationCompletenessVerdict", ())
    ]
    script = {"intents": scripted["UserIntentions"][0]["intentions"], "satisfied": verdicts}
    report = evaluated(script, row["inputs"]["turns"], empty=1)
    assert report.scores()[NAME]["score"] == pytest.approx(row["expected"]["score"])
