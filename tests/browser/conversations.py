"""Conversations for the tests of report files in a browser, and a judge of fixed verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrichub import Hub, load_metric
from metrichub.testing import Scripted

Chat = list[Mapping[str, Any]]


def turn(role: str, content: object, **more: object) -> Mapping[str, Any]:
    return {"role": role, "content": content, **more}


def calling(text: str | None, *calls: tuple[str, str, object]) -> Mapping[str, Any]:
    """A message of the assistant with calls: an id, a name and arguments each."""
    listed = [{"id": number, "name": name, "arguments": args} for number, name, args in calls]
    return turn("assistant", text, tool_calls=listed)


FLIGHTS = "\n".join(f"BL{n:03} 08:{n:02} {150 + n} EUR" for n in range(40))
TRAVEL: Chat = [
    turn("system", "You work at the desk of Blue Line. Be courteous. " * 10),
    turn("user", "A flight from Berlin to Rome on 3 May, please, under 200 euros."),
    calling(
        "Let me look.",
        ("a", "search_flights", {"from": "BER", "to": "FCO", "customer": 12345678901234567890}),
        ("b", "weather", {"city": "Rome"}),
    ),
    turn("tool", "sunny, 24 °C", tool_call_id="b"),
    turn("tool", FLIGHTS, tool_call_id="a"),
    turn(
        "assistant",
        "BL000 leaves at 08:00 and costs 150 euros. It will be sunny.",
        retrieval_context=["Blue Line flies to Rome daily.", "One bag of 10 kg is included."],
    ),
    turn("user", [{"type": "text", "text": "And my passport?"}, {"type": "image_url"}]),
    turn("assistant", "lol no idea, ask somebody else"),
]
CHINESE: Chat = [
    turn("user", "请查一下明天北京的天气。"),
    calling(None, ("c", "天气查询", {"城市": "北京", "日期": "明天"})),
    turn("tool", "晴，二十六度", tool_call_id="c"),
    turn("assistant", "明天北京晴，最高气温二十六度。"),
]
ARABIC: Chat = [
    turn("user", "كم تكلفة التذكرة إلى القاهرة؟"),
    calling(None, ("d", "سعر", {"المدينة": "القاهرة"})),
    turn("tool", "٣٥٠ يورو", tool_call_id="d"),
    turn("assistant", "سعر التذكرة ٣٥٠ يورو."),
]
POLITE: Chat = [*TRAVEL[:-1], turn("assistant", "Your passport is valid until 2031.")]


def clerk(*words: str, name: str = "role_adherence") -> Any:
    """Role adherence by a judge of these words, one a message of the assistant with text."""
    judge = Scripted({"in_role": words})
    return load_metric("role_adherence", judge=judge, role="a clerk", name=name)


def written(path: Path, *conversations: Chat, words: tuple[str, ...] = ("yes",)) -> str:
    """The address of a report of one system."""
    Hub([clerk(*words)]).evaluate(messages=conversations).to_html(path / "a.html", resamples=9)
    return (path / "a.html").as_uri()
