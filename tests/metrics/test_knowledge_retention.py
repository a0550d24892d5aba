"""Knowledge retention: the share of messages that forget no fact, and what the judge is shown."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted
from tests.judge_toys import Listener
from tests.vectors import vectors

NAME = "knowledge_retention"
TALK = [
    {"role": "system", "content": "You know: 7: x"},
    {"role": "user", "content": "I'm Ann."},
    {"role": "assistant", "content": "Hello Ann!"},
    {"role": "user", "content": "I live in Bern."},
    {"role": "assistant", "tool_calls": [{"name": "map", "args": {}}]},
    {"role": "tool", "content": "Bern"},
    {"role": "assistant", "content": "Where do you live?"},
]


def evaluated(judge: Scripted, talk: Any = TALK, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, judge=judge, **parameters)).evaluate(messages=[talk])


def scripted(facts: Sequence[str], verdicts: Sequence[str] = ("yes",)) -> Listener:
    return Listener({"facts": facts, "retained": verdicts})


@pytest.mark.parametrize("vector", vectors(NAME))
def test_deepeval_divides_the_same_messages(vector: dict[str, Any]) -> None:
    turns, answers = vector["inputs"]["turns"], vector["scripted"]
    users = [place for place, turn in enumerate(turns) if turn["role"] == "user"]
    facts = [
        f"{place}: {key} is {value}"
        for place, listed in zip(users, answers["Knowledge"], strict=True)
        for key, value in (listed["data"] or {}).items()
    ]
    # Its "yes" says that the message forgets, ours that it remembers.
    ours = {"yes": "no", "no": "yes"}
    verdicts = [ours[answer["verdict"]] for answer in answers.get("KnowledgeRetentionVerdict", ())]
    judge = scripted(facts, verdicts)
    report = evaluated(judge, turns, empty=1)
    assert report.scores()[NAME]["score"] == pytest.approx(vector["expected"]["score"])
    assert len(judge.items) == len(verdicts)


def test_a_conversation_without_facts_is_1_in_deepeval_and_undefined_here() -> None:
    # Nothing was there to be remembered: a perfect score would reward silent users.
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello!"}]
    report = evaluated(scripted([]), talk)
    assert report.explain(NAME, 0)[0] == "unanswered"
    assert math.isnan(report.scores()[NAME]["score"])
    assert report.counts()[NAME]["unanswered"] == 1
    assert evaluated(scripted([]), talk, empty=1).scores() == {NAME: {"score": 1, "forgotten": 0}}


def test_a_message_is_judged_by_the_facts_before_it() -> None:
    judge = scripted(["1: is Ann", "3: lives in Bern"], ["yes", "no"])
    report = evaluated(judge)
    # The message that only calls a tool has no text.
    assert [(item["index"], item["facts"]) for item in judge.items] == [
        (2, ["is Ann"]),
        (6, ["is Ann", "lives in Bern"]),
    ]
    assert report.scores() == {NAME: {"score": 1 / 2, "forgotten": 1}}


def test_messages_before_the_first_fact_are_not_judged() -> None:
    judge = scripted(["3: lives in Bern"])
    assert evaluated(judge).scores()[NAME]["score"] == 1
    assert [item["index"] for item in judge.items] == [6]


@pytest.mark.parametrize(
    "form", ["1: F", "[1]: F", "(1): F", "1. F", "Message 1: F", "1：F", "消息1：F"]
)
def test_the_number_of_a_fact_may_be_written_in_several_ways(form: str) -> None:
    steps = evaluated(scripted([form])).explain(NAME, 0).steps
    assert steps[0]["facts"] == ["1: F"]


def test_what_others_than_the_user_say_is_no_fact() -> None:
    facts = ["0: x", "2: greets", "5: Bern", "9: nobody", "1: is Ann", "has no number"]
    assert evaluated(scripted(facts)).explain(NAME, 0).steps[0]["facts"] == ["1: is Ann"]


def test_facts_without_numbers_are_an_error_and_no_score() -> None:
    report = evaluated(scripted(["is Ann", "lives in Bern"]))
    assert report.counts()[NAME]["errors"] == 1
    status, reason = report.explain(NAME, 0)[:2]
    assert status == "error"
    assert "listed 2 facts, such as 'is Ann'" in reason
    assert "listed 1 fact, such as" in evaluated(scripted(["is Ann"])).explain(NAME, 0)[1]


@pytest.mark.parametrize(
    "talk",
    [
        [],
        [{"role": "user", "content": "I'm Ann."}],
        [{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "I'm Ann."}],
    ],
)
def test_what_nobody_answers_asks_nothing(talk: list[Any]) -> None:
    # The script has no answer, so that a question would be an error.
    assert evaluated(Scripted({}), talk).explain(NAME, 0)[0] == "unanswered"


def test_facts_of_one_part_count_in_the_next() -> None:
    long = [
        {"role": "user", "content": "I'm Ann. " * 60},
        {"role": "assistant", "content": "Hello! " * 60},
        {"role": "user", "content": "Bye. " * 60},
        {"role": "assistant", "content": "Who are you? " * 60},
    ]
    judge = scripted(["0: is Ann"], ["no"])
    report = evaluated(judge, long, limit_tokens=100)
    assert [(item["index"], item["facts"]) for item in judge.items] == [
        (1, ["is Ann"]),
        (3, ["is Ann"]),
    ]
    assert report.scores() == {NAME: {"score": 0, "forgotten": 2}}


def test_the_numbers_of_all_conversations_are_averaged() -> None:
    judge = scripted(["1: is Ann"], ["yes", "no"])
    report = Hub(load_metric(NAME, judge=judge)).evaluate(messages=[TALK, TALK[:3]])
    # (1/2 + 1) / 2, and (1 + 0) / 2 messages that forget.
    assert report.scores() == {NAME: {"score": 3 / 4, "forgotten": 1 / 2}}
