"""Conversations: how a judge is shown messages, and which of them make an exchange."""

from __future__ import annotations

import json
from typing import cast

import pytest

from metrichub.text.conversation import (
    Message,
    Role,
    interactions,
    message_text,
    message_texts,
)

ROLES = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}


def message(role: Role, text: str = "") -> Message:
    """A message with nothing but a text."""
    return {
        "role": role,
        "text": text,
        "calls": [],
        "result_of": None,
        "name": None,
        "contexts": [],
        "left_out": [],
    }


@pytest.mark.parametrize(
    ("roles", "exchanges"),
    [
        ("", []),
        ("u", []),
        ("a", []),
        ("ua", [[0, 1]]),
        # What an assistant says first belongs to the first exchange, several in a row to one.
        ("aua", [[0, 1, 2]]),
        ("uuaa", [[0, 1, 2, 3]]),
        ("uaua", [[0, 1], [2, 3]]),
        # An exchange ends with an assistant's.
        ("uau", [[0, 1]]),
        ("uauu", [[0, 1]]),
        # Other speakers are left out, and part nothing.
        ("suatat", [[1, 2, 4]]),
        ("uasuta", [[0, 1], [3, 5]]),
    ],
)
def test_an_exchange_goes_from_a_user_s_message_to_an_assistant_s(
    roles: str, exchanges: list[list[int]]
) -> None:
    messages = [message(cast("Role", ROLES[role])) for role in roles]
    assert interactions(messages) == exchanges


def test_a_message_is_shown_as_json_without_what_is_empty() -> None:
    spoken = message("assistant", 'say "é"\n')
    spoken["calls"] = [{"id": "1", "name": "f", "arguments": {}}]
    texts = message_texts([message("user"), spoken], start=3)
    assert texts[0] == '{"index": 3, "role": "user"}'
    assert json.loads(texts[1]) == {
        "index": 4,
        "role": "assistant",
        "text": 'say "é"\n',
        "calls": [{"id": "1", "name": "f", "arguments": {}}],
    }
    assert "é" in texts[1]
    assert message_texts([message("user")]) == ['{"index": 0, "role": "user"}']


def test_what_stands_beside_a_message_is_shown_after_it() -> None:
    shown = message_text(message("tool", "x"), 2, {"unread": ""})
    assert shown == '{"index": 2, "role": "tool", "text": "x", "unread": ""}'
