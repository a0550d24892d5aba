"""Requests: each that goes out is counted and has room in the budget, seen from the server."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from metrichub import Hub
from metrichub.errors import BudgetSpent, JudgeUnavailable
from metrichub.models import limits
from metrichub.models.usage import Usage
from tests.judge_stub import Fault, Stub, dropped, failure
from tests.judge_toys import columns, spec
from tests.models.clock import Clock

AT_ONCE = failure(500, retry_after_ms="1")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.0)


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, **({"max_retries": 2, "concurrency": 2} | more)))


@pytest.mark.parametrize("fault", [AT_ONCE, dropped], ids=["500", "dropped"])
def test_a_run_sends_no_more_requests_than_its_calls_allow(stub: Stub, fault: Fault) -> None:
    stub.always = fault
    with pytest.raises(
        BudgetSpent, match=r"would exceed max_calls=10 \(10 so far, retries counted\)"
    ):
        hub(stub).evaluate(**columns(20), max_calls=10)
    assert len(stub.asked) == 10


def test_usage_says_how_many_requests_the_calls_took(stub: Stub) -> None:
    stub.faults = [AT_ONCE, None, None, dropped, dropped]
    usage = hub(stub, concurrency=1).evaluate(**columns(2)).usage
    assert (usage.calls, usage.requests) == (4, 7)
    assert len(stub.asked) == 7
    assert str(usage).startswith("4 calls in 7 requests, 0 answers reused")
    assert str(Usage(4, requests=4)).startswith("4 calls, 0 answers reused")


def test_a_call_that_fails_says_how_many_requests_it_took(stub: Stub) -> None:
    stub.always = AT_ONCE
    report = hub(stub).evaluate(**columns(1))
    assert report.failed == 1
    assert (report.usage.calls, report.usage.requests) == (1, 3)


def test_a_request_without_a_reply_takes_the_tokens_that_were_held_for_it(stub: Stub) -> None:
    expected = hub(stub).estimate(**columns(1))
    tokens = expected.prompt_tokens + expected.completion_tokens
    stub.faults = [dropped, dropped]
    with pytest.raises(BudgetSpent, match="would exceed max_tokens"):
        hub(stub).evaluate(**columns(1), max_tokens=tokens)
    # What a server refuses, it doesn't bill.
    stub.faults = [AT_ONCE, AT_ONCE]
    assert hub(stub).evaluate(**columns(1), max_tokens=tokens).failed == 0


def test_a_spent_quota_ends_the_run_at_its_first_request(stub: Stub) -> None:
    stub.always = failure(429, "pay first", "insufficient_quota", retry_after_ms="1")
    with pytest.raises(JudgeUnavailable, match="no credit is left"):
        hub(stub).evaluate(**columns(20))
    assert len(stub.asked) == 1


def test_retries_count_for_the_requests_a_minute(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(limits, "_now", lambda: clock.now)
    monkeypatch.setattr(limits, "_sleep", clock.sleep)
    stub.faults = [AT_ONCE, AT_ONCE]
    hub(stub, requests_per_minute=10).evaluate(**columns(1))
    # Four requests, each six seconds after the one before.
    assert len(stub.asked) == 4
    assert clock.now == 18
