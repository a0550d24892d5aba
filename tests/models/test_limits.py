"""Limits: what a busy or a slow server does to all requests; the clock is the test's own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import JudgeUnavailable
from metrichub.models import limits
from metrichub.models.limits import Limiter, asked_wait
from tests.judge_stub import Asked, Reply, Stub, answer, completion, failure
from tests.judge_toys import columns, spec
from tests.models.clock import Clock


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "_now", lambda: clock.now)
    monkeypatch.setattr(limits, "_sleep", clock.sleep)
    return clock


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, **({"max_retries": 2} | more)))


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize(
    ("status", "header"),
    [
        (429, {}),
        (429, {"retry_after": "6"}),
        (429, {"x_ratelimit_reset_requests": "6s"}),
        # An overloaded server, as OpenAI and Anthropic say it.
        (503, {}),
        (529, {}),
    ],
)
def test_a_limit_a_window_costs_no_row(
    stub: Stub, clock: Clock, status: int, header: dict[str, str], retries: int
) -> None:
    windows: dict[int, int] = {}
    refuse = failure(status, "slow down", **header)

    def limited(asked: Asked) -> Reply:
        window = int(clock.now // 6)
        windows[window] = windows.get(window, 0) + 1
        return refuse(asked) if windows[window] > 20 else completion(json.dumps(answer(asked)))

    stub.always = limited
    report = hub(stub, max_retries=retries).evaluate(**columns(60))
    assert report.failed == 0
    assert report.usage.calls == 120
    # Those on their way as the limit came, and a few that looked whether it was over. One whose
    # connection a busy machine lost counts, and never arrived.
    assert len(stub.asked) <= report.usage.requests < 120 + 7 * 20


def test_a_limit_of_a_day_ends_the_run_at_its_first_answer(stub: Stub) -> None:
    stub.always = failure(429, "slow down", retry_after="3600")
    with pytest.raises(JudgeUnavailable, match="the same run continues from here"):
        hub(stub).evaluate(**columns(300))
    assert len(stub.asked) == 1


def test_ten_minutes_without_an_answer_end_the_run(stub: Stub, clock: Clock) -> None:
    stub.always = failure(429, "slow down")
    with pytest.raises(JudgeUnavailable, match=r"nothing but 429 \(too many requests"):
        hub(stub).evaluate(**columns(300))
    # 1 + 2 + ... + 32 is 63 s; minutes fill the rest of the ten.
    assert clock.slept == [1, 2, 4, 8, 16, 32, *[60] * 8]
    assert len(stub.asked) == 15


def test_a_429_of_one_judge_pauses_another_of_the_same_model(stub: Stub, clock: Clock) -> None:
    first, other = hub(stub), hub(stub, temperature=0.5)
    stub.faults = [failure(429, "slow down", retry_after="7")]
    first.evaluate(**columns(1))
    assert clock.slept == [7]
    stub.faults = [None, None, failure(429, "slow down")]
    other.evaluate(**columns(2))
    assert clock.slept == [7, 1]


def test_requests_start_again_from_one_and_each_success_lets_one_more_go() -> None:
    async def entered() -> list[int]:
        limiter, counts = Limiter("m", 16), []
        for _ in range(3):
            await limiter.enter()
        limiter.limit(0, 0.0)
        for _ in range(3):
            limiter.leave()
        waiting = [asyncio.create_task(limiter.enter()) for _ in range(10)]
        for _ in range(3):
            for _ in range(20):
                await asyncio.sleep(0)
            done = [task for task in waiting if task.done()]
            counts.append(len(done))
            for task in done:
                waiting.remove(task)
                limiter.succeed(0.0, 60.0)
                limiter.leave()
        for task in waiting:
            task.cancel()
        return counts

    assert asyncio.run(entered()) == [1, 2, 4]


@pytest.mark.parametrize(
    ("seconds", "rounds"),
    [
        (0.0, [4, 8, 16, 32]),
        (14.0, [4, 8, 16, 32]),
        # 4 + 1/4 + 1/4.25 + 1/4.49 + 1/4.71 is 4.92, four answers later 5.69, and five later 6.54.
        (16.0, [4, 4, 5, 6]),
        (29.0, [4, 4, 5, 6]),
        (31.0, [4, 4, 4, 4]),
    ],
)
def test_fewer_go_out_the_longer_answers_take_of_their_timeout_of_a_minute(
    clock: Clock, seconds: float, rounds: list[int]
) -> None:
    assert asyncio.run(_rounds(Limiter("m", 16), clock, seconds, len(rounds))) == rounds


async def _rounds(limiter: Limiter, clock: Clock, seconds: float, number: int) -> list[int]:
    """How many of many requests go out in each round, where all answers take so long."""
    waiting = [asyncio.create_task(limiter.enter()) for _ in range(100)]
    counts = []
    for _ in range(number):
        for _ in range(len(waiting) + 1):
            await asyncio.sleep(0)
        done = [task for task in waiting if task.done()]
        waiting = [task for task in waiting if not task.done()]
        counts.append(len(done))
        clock.now += seconds
        for task in done:
            limiter.succeed(task.result(), 60.0)
            limiter.leave()
    for task in waiting:
        task.cancel()
    return counts


def test_after_a_time_out_half_as_many_go_out_and_then_one_more_a_round(clock: Clock) -> None:
    async def entered() -> list[int]:
        limiter = Limiter("m", 16)
        assert await _rounds(limiter, clock, 0.0, 2) == [4, 8]
        sent = [await limiter.enter() for _ in range(12)]
        clock.now += 60.0
        # Those that were on their way together count once.
        assert all(limiter.time_out(moment, 60.0, i) for i, moment in enumerate(sent))
        for _ in sent:
            limiter.leave()
        return await _rounds(limiter, clock, 0.0, 4)

    assert asyncio.run(entered()) == [6, 6, 7, 8]


def test_time_outs_of_one_call_end_no_run(clock: Clock) -> None:
    async def time_out(limiter: Limiter, call: str) -> None:
        sent = await limiter.enter()
        clock.now += 60.0
        # Fewer at once than one is none.
        assert not limiter.time_out(sent, 60.0, call)
        limiter.leave()

    limiter = Limiter("m", 16)
    for call in [*["first"] * 20, "second"]:
        asyncio.run(time_out(limiter, call))
    with pytest.raises(JudgeUnavailable, match="didn't answer within 60 s"):
        asyncio.run(time_out(limiter, "third"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"x-ratelimit-reset-requests": "6m0.5s"}, 360.5),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"X-RateLimit-Reset": "3"}, 3),
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "5"}, 0),
        ({"x-ratelimit-reset": "soon"}, 0),
        ({"retry-after": "2.5", "x-ratelimit-reset": "9"}, 2.5),
        ({"Retry-After-Ms": "300", "retry-after": "1"}, 0.3),
        ({"retry-after": "tomorrow", "x-ratelimit-reset": "9"}, 9),
    ],
)
def test_reset_headers_say_how_long_a_limit_lasts(headers: dict[str, str], seconds: float) -> None:
    assert asked_wait(headers) == pytest.approx(seconds)
