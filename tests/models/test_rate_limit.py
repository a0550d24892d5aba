"""Limits a minute: the part of one process among several, here and in real workers."""

import asyncio
from typing import Any

import pytest

from metrichub.evaluation.workers import distribute
from metrichub.models import limits, usage
from metrichub.models.limits import Limiter
from metrichub.models.usage import share_limits
from tests.models.clock import Clock


def seconds(requests: int | None, tokens: int | None = None) -> list[float]:
    """When each of three requests with 30 tokens goes out."""
    clock = Clock()

    async def sent() -> list[float]:
        limiter = Limiter("m", 16, requests, tokens)
        return [await limiter.enter(30) for _ in range(3)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "_now", lambda: clock.now)
        patch.setattr(limits, "_sleep", clock.sleep)
        return asyncio.run(sent())


def seconds_here(_: object) -> Any:
    """Work for another process: when requests of a judge with 90 a minute go out there."""
    return seconds(90)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_sharers", 1)


def test_requests_go_out_evenly_and_the_parts_of_all_processes_are_the_limit() -> None:
    assert seconds(None) == [0, 0, 0]
    assert seconds(90) == pytest.approx([0, 60 / 90, 120 / 90])
    share_limits(4)
    assert seconds(90) == pytest.approx([0, 4 * 60 / 90, 4 * 120 / 90])
    # A part of less than one a minute.
    assert seconds(1) == [0, 240, 480]


def test_the_tokens_of_a_minute_may_go_at_once_and_then_as_they_are_allowed_again() -> None:
    assert seconds(None, 90) == [0, 0, 0]
    # Two of 30 tokens each fit; 10 s give back the 10 of 60 that the third lacks.
    assert seconds(None, 80) == pytest.approx([0, 0, 60 * 10 / 80])
    # One of more than a minute's tokens goes out all the same, as soon as nothing else counts.
    assert seconds(None, 10) == pytest.approx([0, 180, 360])


def test_tokens_of_replies_count_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(limits, "_now", lambda: clock.now)
    monkeypatch.setattr(limits, "_sleep", clock.sleep)

    async def second() -> float:
        limiter = Limiter("m", 16, tokens_per_minute=100)
        await limiter.enter(60)
        limiter.count_tokens(40)
        return await limiter.enter(60)

    # 60 of 100 tokens are allowed again after 36 s.
    assert asyncio.run(second()) == pytest.approx(36)


def test_workers_divide_what_may_be_sent_a_minute() -> None:
    parts: Any = ["one", "two", "three"]
    expected = pytest.approx([0, 2, 4])
    assert list(distribute(seconds_here, parts, 3)) == [expected] * 3
