"""Role adherence: in role over all messages of the assistant; deepeval's values."""

from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.vectors import vectors

NAME = "role_adherence"


def in_role(fields: Fields) -> list[str]:
    raise AssertionError("nothing was to be asked")


def evaluated(messages: Any, verdicts: Any, role: str = "a clerk", **parameters: Any) -> Report:
    metric = load_metric(NAME, judge=Scripted({"in_role": verdicts}), role=role, **parameters)
    return Hub(metric).evaluate(messages=[messages])


TALK = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Good day."},
    {"role": "user", "content": "Bye"},
    {"role": "assistant", "content": "See you."},
    {"role": "assistant", "content": "Yo!"},
]


@pytest.mark.parametrize(
    ("verdicts", "score"), [(["yes"], 1), (["no"], 0), (["yes", "yes", "no"], 2 / 3)]
)
def test_the_score_is_in_role_over_messages(verdicts: list[str], score: float) -> None:
    report = evaluated(TALK, verdicts)
    assert report.scores()[NAME]["score"] == pytest.approx(score)


def test_messages_that_only_call_tools_do_not_count() -> None:
    calling = {"role": "assistant", "tool_calls": [{"name": "f", "args": {}}]}
    report = evaluated([TALK[0], calling, TALK[1]], ["no", "yes"])
    (message,) = report.explain(NAME, 0).steps[0]["messages"]
    assert (message["index"], message["verdict"]) == (2, "no")


def test_a_conversation_has_its_own_role_or_the_parameter_s() -> None:
    seen: list[str] = []

    def verdicts(fields: Fields) -> list[str]:
        seen.append(str(fields["role"]))
        return ["yes"]

    metric = load_metric(NAME, judge=Scripted({"in_role": verdicts}))
    assert metric.inputs() == ("messages", "role")
    Hub(metric)(messages=[TALK, TALK], roles=["a clerk", "a king"])
    assert sorted(seen) == ["a clerk", "a king"]


@pytest.mark.parametrize("messages", [[], TALK[:1]])
def test_without_an_answer_it_is_undefined_and_nothing_is_asked(messages: Any) -> None:
    report = evaluated(messages, in_role)
    assert report.explain(NAME, 0)[:2] == ("unanswered", "the assistant says nothing")
    assert evaluated(messages, in_role, empty=1).scores()[NAME] == {"score": 1}


def test_a_blank_role_is_unscored() -> None:
    metric = load_metric(NAME, judge=Scripted({"in_role": in_role}))
    report = Hub(metric).evaluate(messages=[TALK], roles=[" "])
    assert report.counts()[NAME]["unscored"] == 1


@pytest.mark.parametrize("row", vectors(NAME))
def test_deepeval_s_values(row: dict[str, Any]) -> None:
    turns, (listed,) = row["inputs"]["turns"], row["scripted"].values()
    breaking = {entry["index"] for entry in listed[0]["verdicts"]}
    answers = [n for n, turn in enumerate(turns) if turn["role"] == "assistant"]
    verdicts = ["no" if n in breaking else "yes" for n in answers]
    role = row["inputs"]["chatbot_role"]
    score = evaluated(turns, verdicts, role, empty=1).scores()[NAME]["score"]
    # deepeval counts what its judge listed twice, and a message of the user: 3 of 3 messages.
    bug = "duplicates and user turns count" in row.get("note", "")
    assert row["expected"]["score"] == (0 if bug else pytest.approx(score))
    assert score == pytest.approx(2 / 3 if breaking else 1)


def test_a_missing_role_is_unscored() -> None:
    metric = load_metric(NAME, judge=Scripted({"in_role": ["yes"]}))
    report = Hub(metric).evaluate(messages=[TALK, TALK], roles=["a clerk", None])
    assert report.explain(NAME, 1).reason == "there is no role"
    assert report.scores()[NAME] == {"score": 1}
    assert report.counts()[NAME] == {"unscored": 1}
