"""Conversations on a page: each system's messages, with arguments that keep numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, load_metric
from metrichub.authoring import Message, Metric
from metrichub.data.conversations import conversation
from metrichub.report.html import write
from metrichub.testing import Scripted
from tests.report.test_page import FEW, Page

CHAT: list[Mapping[str, Any]] = [
    {"role": "user", "content": "Where is order 7?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "x", "name": "track", "arguments": {"order": 7, "fee": 2.0}}],
    },
    {"role": "tool", "tool_call_id": "x", "content": "in Lyon", "retrieval_context": ["a map"]},
    {"role": "assistant", "content": "In Lyon."},
]
OTHER = [*CHAT[:1], {"role": "assistant", "content": "No idea."}]
ROLE = load_metric("role_adherence", judge=Scripted({"in_role": ["yes", "no"]}), role="a clerk")


def page_of(path: Path, *conversations: Sequence[Any], metrics: Sequence[Any] = (ROLE,)) -> Page:
    """The page of systems with one conversation each."""
    hub = Hub(list(metrics))
    systems = {str(k): hub.evaluate(messages=[entry]) for k, entry in enumerate(conversations)}
    write(path / "a.html", systems, **FEW)
    return Page(path / "a.html")


def test_messages_have_what_is_in_them_and_readable_arguments(tmp_path: Path) -> None:
    (sample,) = page_of(tmp_path, CHAT).samples
    call = {"id": "1", "name": "track", "arguments": '{\n  "order": 7,\n  "fee": 2.0\n}'}
    assert sample["shared"]["messages"] == [
        {"role": "user", "text": "Where is order 7?"},
        {"role": "assistant", "calls": [call]},
        {
            "role": "tool",
            "text": "in Lyon",
            "result_of": "1",
            "name": "track",
            "contexts": ["a map"],
        },
        {"role": "assistant", "text": "In Lyon."},
    ]
    # They can be scored again.
    assert conversation(sample["shared"]["messages"]) == conversation(CHAT)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        # JavaScript would read 12345678901234567000, 2 and nothing.
        ({"id": 12345678901234567890}, '{\n  "id": 12345678901234567890\n}'),
        ({"fee": 2.0}, '{\n  "fee": 2.0\n}'),
        # JSON has no NaN, and messages are JSON.
        ({"limit": math.nan}, '{\n  "limit": null\n}'),
        ({"城市": "北京"}, '{\n  "城市": "北京"\n}'),
        ("not {JSON", "not {JSON"),
        ({}, "{}"),
    ],
)
def test_arguments_are_shown_exactly(tmp_path: Path, arguments: object, text: str) -> None:
    calls = [{"id": "x", "name": "f", "arguments": arguments}]
    message = {"role": "assistant", "content": "ok", "tool_calls": calls}
    (sample,) = page_of(tmp_path, [message]).samples
    assert sample["shared"]["messages"][0]["calls"][0]["arguments"] == text


def test_each_system_has_its_own_conversation(tmp_path: Path) -> None:
    (sample,) = page_of(tmp_path, CHAT, OTHER).samples
    assert [system["messages"][-1]["text"] for system in sample["own"]] == ["In Lyon.", "No idea."]
    assert "messages" not in sample["shared"]
    # Each has one message with text of the assistant, its last.
    verdicts = [
        [(v["index"], v["verdict"]) for v in step["role_adherence"][0]["messages"]]
        for step in sample["steps"]
    ]
    assert verdicts == [[(3, "yes")], [(1, "yes")]]
    # One that systems share is there once.
    page = page_of(tmp_path, CHAT, CHAT)
    assert "own" not in page.samples[0]
    assert str(page.samples).count("in Lyon") == 1


def test_predictions_are_there_if_a_metric_reads_them(tmp_path: Path) -> None:
    (sample,) = page_of(tmp_path, CHAT).samples
    assert sample["said"] == [None]
    (sample,) = page_of(tmp_path, CHAT, metrics=(ROLE, "aun")).samples
    assert sample["said"] == ["In Lyon."]
    assert len(sample["shared"]["messages"]) == len(CHAT)


@dataclass(frozen=True, kw_only=True)
class Steps(Metric):
    """The share of the reference's messages."""

    def observe(self, messages: Sequence[Message], reference_messages: Sequence[Message]) -> float:
        return len(messages) / len(reference_messages)


def test_reference_messages_are_shared(tmp_path: Path) -> None:
    hub = Hub([Steps(name="steps")])
    first, second = (
        hub.evaluate(messages=[values], reference_messages=[CHAT]) for values in (CHAT, OTHER)
    )
    write(tmp_path / "a.html", {"a": first, "b": second}, **FEW)
    (sample,) = Page(tmp_path / "a.html").samples
    assert sample["shared"]["reference_messages"] == sample["own"][0]["messages"]
    assert len(sample["own"][1]["messages"]) == len(OTHER)


def test_a_saved_report_has_a_page_without_its_conversations(tmp_path: Path) -> None:
    report = Hub([ROLE]).evaluate(messages=[CHAT])
    report.save(tmp_path / "a.json")
    write(tmp_path / "a.html", {"a": type(report).load(tmp_path / "a.json", metrics=[ROLE])}, **FEW)
    (sample,) = Page(tmp_path / "a.html").samples
    assert sample["shared"] == {}
    assert sample["steps"][0]["role_adherence"][0]["messages"][0]["item"] == "In Lyon."
