"""Limits a minute: the part of one process among several, here and in real workers."""

from typing import Any

import pytest

from metrichub.evaluation.workers import distribute
from metrichub.models import usage
from metrichub.models.usage import limiter_of, share_limits


def allowed(rate: int | None) -> float | None:
    """How many a minute pass in the long run."""
    limiter = limiter_of(rate)
    return limiter and limiter.max_rate / limiter.time_period * 60


def allowed_here(_: object) -> Any:
    """Work for another process: what a judge with 90 requests a minute may send there."""
    return allowed(90)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_sharers", 1)


def test_the_parts_of_all_processes_are_the_limit() -> None:
    assert allowed(None) is None
    assert allowed(90) == 90
    share_limits(4)
    assert allowed(90) == pytest.approx(90 / 4)


def test_a_part_of_less_than_one_a_minute_lets_one_pass_in_several_minutes() -> None:
    share_limits(4)
    limiter = limiter_of(1)
    assert limiter
    assert (limiter.max_rate, limiter.time_period) == (1, 240)


def test_workers_divide_what_may_be_sent_a_minute() -> None:
    parts: Any = ["one", "two", "three"]
    assert list(distribute(allowed_here, parts, 3)) == [30, 30, 30]
