"""Bases of metrics of conversations: what a judge is shown, parts of long ones, exchanges."""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Message, interactions, message_texts
from metrichub.data.conversations import conversation
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted


class Reading(Scripted):
    """A judge to which a message is in its role unless it says "no", and that notes its fields."""

    def __init__(self, script: Any = None) -> None:
        super().__init__(script or {})
        object.__setattr__(self, "asked", [])

    asked: list[tuple[list[Any], Fields]]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        self.asked.append(([json.loads(item) for item in items], fields))
        words = ["no" if "no" in json.loads(item)["text"] else "yes" for item in items]
        return [Verdict(i, t, words[i], "so") for i, t in enumerate(items)]


def talk(*texts: str) -> list[Message]:
    """A conversation whose messages are the user's and the assistant's in turn."""
    roles = ["user", "assistant"] * len(texts)
    return conversation(
        [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    )


def adherence(messages: Sequence[Message], judge: Scripted, **parameters: Any) -> Report:
    metric = load_metric("role_adherence", judge=judge, role="a clerk", **parameters)
    return Hub(metric).evaluate(messages=[messages])


def test_a_message_is_shown_as_json_without_what_is_empty() -> None:
    call = {"id": "1", "name": "f", "arguments": {"a": 1}}
    messages = conversation([{"role": "user", "content": "Hi"}, call])
    assert [json.loads(text) for text in message_texts(messages, 7)] == [
        {"index": 7, "role": "user", "text": "Hi"},
        {"index": 8, "role": "assistant", "calls": [call]},
    ]


@pytest.mark.parametrize(
    ("roles", "exchanges"),
    [
        ("ua", [[0, 1]]),
        ("uaua", [[0, 1], [2, 3]]),
        # Several messages in a row of one of them belong together.
        ("uuaaua", [[0, 1, 2, 3], [4, 5]]),
        # What is said before the first user belongs to the first exchange.
        ("aua", [[0, 1, 2]]),
        ("aauaua", [[0, 1, 2, 3], [4, 5]]),
        # Messages that nobody answers make none.
        ("uau", [[0, 1]]),
        ("u", []),
        ("a", []),
        ("", []),
        # Those of the system and of tools are left out.
        ("suatau", [[1, 2, 4]]),
    ],
)
def test_an_exchange_goes_from_a_user_to_the_last_answer(
    roles: str, exchanges: list[list[int]]
) -> None:
    names = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
    messages = conversation([{"role": names[role], "content": "x"} for role in roles])
    assert interactions(messages) == exchanges


def test_the_judge_sees_the_conversation_and_each_message_once() -> None:
    judge = Reading()
    messages = talk("Hi", "Hello", "Bye", "no way")
    report = adherence(messages, judge)
    ((items, fields),) = judge.asked
    assert [item["index"] for item in items] == [1, 3]
    assert fields == {"conversation": message_texts(messages), "role": "a clerk"}
    assert report.scores() == {"role_adherence": {"score": 0.5}}
    assert report.counts() == {"role_adherence": {}}
    step = report.explain("role_adherence", 0).steps[0]
    assert [(m["index"], m["item"], m["verdict"]) for m in step["messages"]] == [
        (1, "Hello", "yes"),
        (3, "no way", "no"),
    ]


def test_a_long_conversation_is_split_between_messages() -> None:
    judge = Reading()
    # About 160 characters each, and so some 65 tokens with the rest of the message.
    messages = talk(*(f"{word} " * 20 for word in ("yes", "yes", "yes", "no way", "yes", "yes")))
    report = adherence(messages, judge, limit_tokens=150)
    shown = [[json.loads(text)["index"] for text in f["conversation"]] for _, f in judge.asked]
    assert list(chain(*shown)) == list(range(6))
    assert 2 <= len(shown) < 6
    judged = [[item["index"] for item in items] for items, _ in judge.asked]
    assert sorted(chain(*judged)) == [1, 3, 5]
    assert report.scores()["role_adherence"]["score"] == pytest.approx(2 / 3)
    step = report.explain("role_adherence", 0).steps[0]
    assert [message["index"] for message in step["messages"]] == [1, 3, 5]


def test_a_message_longer_than_the_limit_loses_its_middle_and_the_report_says_so() -> None:
    judge = Reading()
    messages = talk("Hi", f"begin {'x' * 10_000} end")
    report = adherence(messages, judge, limit_tokens=200)
    text = json.loads(judge.asked[-1][1]["conversation"][-1])["text"]
    assert text.startswith("begin xxx")
    assert text.endswith("xxx end")
    assert " […] " in text
    assert len(text) < 500
    assert report.notes()["role_adherence"] == [
        "1 cut: the middle of a message longer than 200 tokens"
    ]


@pytest.mark.parametrize(
    "long",
    [
        {"content": "a", "contexts": ["word " * 20_000] * 2},
        {
            "content": "word " * 20_000,
            "tool_calls": [{"name": "f", "args": {"a": "word " * 999}}] * 120,
        },
    ],
)
def test_contexts_and_many_calls_are_cut_too(long: dict[str, Any]) -> None:
    metric = load_metric("role_adherence", judge=Scripted({}), role="a clerk", limit_tokens=100)
    (part,) = metric.parts(conversation([{"role": "assistant", **long}]))
    # Of a call, its number, its name and the sign of the cut take some 80 characters.
    assert len(part.texts[0]) < 400 + 120 * 80
    assert " […] " in part.texts[0]


def test_intents_of_parts_are_joined_and_satisfied_in_any_part() -> None:
    def intents(fields: Fields) -> list[str]:
        shown = " ".join(fields["conversation"])
        return [word for word in ("egg", "tea") if word in shown]

    def satisfied(fields: Fields) -> list[str]:
        # The egg is boiled in the first part, and nothing happens with the tea.
        return ["yes", "no"] if "boiled" in " ".join(fields["conversation"]) else ["no", "no"]

    judge = Scripted({"intents": intents, "satisfied": satisfied})
    metric = load_metric("conversation_completeness", judge=judge, limit_tokens=150)
    long = "well " * 40
    messages = talk(f"An egg, please. {long}", f"It is boiled. {long}", f"And tea? {long}", long)
    report = Hub(metric).evaluate(messages=[messages])
    steps = report.explain("conversation_completeness", 0).steps[0]["intents"]
    assert [(step["item"], step["verdict"]) for step in steps] == [("egg", "yes"), ("tea", "no")]
    assert report.scores()["conversation_completeness"] == {"score": 0.5, "complete": 0.0}
