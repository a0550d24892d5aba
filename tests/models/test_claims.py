"""What is claimed in the call store lasts as long as it is asked for, and no other has to wait."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge
from metrichub.authoring import Prompt
from metrichub.models import run_store
from metrichub.models.run_store import Claims, ForgivingStore, usable_store
from metrichub.models.session import Session
from metrichub.models.store import Store
from metrichub.models.usage import Answer
from tests.judge_stub import Asked, Reply, Stub, answer, completion
from tests.judge_toys import columns, spec

CLAIMS = Prompt("claims", "List the claims.")


def hub(stub: Stub, **more: Any) -> Hub:
    return Hub("faithfulness", judge=spec(stub, **({"concurrency": 1} | more)))


def age(store: Store) -> None:
    """Make every claim as old as can be."""
    store._do("UPDATE claims SET since = 0", ())


def test_a_claim_lasts_while_it_is_renewed_and_no_longer(tmp_path: Path) -> None:
    store = Store(tmp_path / "calls.sqlite")

    async def main() -> None:
        claims = Claims()
        assert claims.take("key", store)
        age(store)
        claims.renew()
        assert store.is_claimed("key", "another")
        assert not store.claim("key", "another")
        # One that hangs renews nothing.
        age(store)
        assert store.claim("key", "another")
        claims.release("key")
        assert store.is_claimed("key", "a third")

    asyncio.run(main())


def test_a_claim_is_renewed_while_its_call_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_store, "RENEWAL", 0.001)
    store, renewed = Store(tmp_path / "calls.sqlite"), threading.Event()

    class Watched(Store):
        def claim(self, key: str, owner: str) -> bool:
            found = super().claim(key, owner)
            if calls.append(key) or len(calls) > 3:
                renewed.set()
            return found

    async def main() -> None:
        claims, watched = Claims(), Watched(store.path)
        assert claims.take("key", watched)
        assert await asyncio.to_thread(renewed.wait, 30)
        claims.release("key")
        assert not store.is_claimed("key", "another")

    calls: list[str] = []
    asyncio.run(main())
    assert set(calls) == {"key"}


def test_nothing_is_claimed_while_the_limits_a_minute_are_waited_for(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    waited = Session.wait_for_limits

    async def wait_for_limits(self: Session, tokens: int, requests: int = 1) -> None:
        # A request is wait_for_limits before it is sent, and what its reply took after it.
        if requests:
            store = Store(Path(run_store.cache_folder(), "calls.sqlite"))
            seen.append(store._do("SELECT count(*) FROM claims", ())[0][0])
        await waited(self, tokens, requests)

    monkeypatch.setattr(Session, "wait_for_limits", wait_for_limits)
    assert hub(stub).evaluate(**columns(2)).failed == 0
    assert seen == [0] * 4


def test_what_another_process_asks_for_takes_nothing_of_the_limits_a_minute(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    permits: list[int] = []

    async def wait_for_limits(_: Session, tokens: int, requests: int = 1) -> None:
        permits.append(requests)

    monkeypatch.setattr(Session, "wait_for_limits", wait_for_limits)
    waits = iter([True] * 3)
    monkeypatch.setattr(Store, "is_claimed", lambda *_: next(waits, False))
    one = OpenAIJudge(model="stub", base_url=stub.url)
    assert asyncio.run(one.extract(CLAIMS, {"text": "One."})) == ["One."]
    # For the request, and for the tokens of its reply.
    assert permits == [1, 0]


# A store that fails.


def test_a_store_that_failed_is_tried_again(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub(stub).evaluate(**columns(1)).usage.calls == 2
    store = usable_store()
    assert store._store is not None
    store._store.close()
    # For the time being, nothing of it is used.
    assert hub(stub).evaluate(**columns(1)).usage.calls == 2
    monkeypatch.setattr(store, "_rests_until", 0.0)
    assert hub(stub).evaluate(**columns(1)).usage.calls == 0


def test_answers_that_come_while_the_store_rests_are_written_at_the_end(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_store, "_BRIEF", 0.001)
    asyncio.run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": "One."}))
    path = Path(run_store.cache_folder(), "calls.sqlite")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")

    def unlocked_late(asked: Asked) -> Reply:
        # For all of the three samples' six calls but the last.
        if len(stub.asked) == 1 + 6:
            other.rollback()
        return completion(json.dumps(answer(asked)))

    stub.always = unlocked_late
    assert hub(stub).evaluate(**columns(3)).usage.calls == 6
    other.close()
    with closing(Store(path)) as store:
        assert len(store) == 1 + 6


def test_answers_that_a_store_could_not_take_are_written_once_it_can(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_store, "_BRIEF", 0.001)
    asyncio.run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": "One."}))
    path = Path(run_store.cache_folder(), "calls.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert hub(stub).evaluate(**columns(3)).usage.calls == 6
        # Meanwhile they are known to this process.
        assert hub(stub).evaluate(**columns(3)).usage.calls == 0
    monkeypatch.setattr(usable_store(), "_rests_until", 0.0)
    assert hub(stub).evaluate(**columns(1)).usage.calls == 0
    with closing(Store(path)) as store:
        assert len(store) == 1 + 6


def test_a_store_that_is_deleted_during_a_run_is_begun_anew_and_said(
    stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    path = Path(run_store.cache_folder(), "calls.sqlite")

    def deleted_early(asked: Asked) -> Reply:
        # Of the three samples' six answers the first two are stored by then.
        if len(stub.asked) == 3:
            shutil.rmtree(path.parent)
        return completion(json.dumps(answer(asked)))

    stub.always = deleted_early
    with caplog.at_level("WARNING", "metrichub"):
        assert hub(stub, concurrency=1).evaluate(**columns(3)).usage.calls == 6
    [said] = [record.getMessage() for record in caplog.records]
    assert "was deleted" in said
    with closing(Store(path)) as store:
        assert len(store) == 4


def test_no_more_answers_wait_for_a_store_than_memory_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_store, "_WAITING", 1)
    tmp_path.joinpath("calls.sqlite").mkdir()
    store = ForgivingStore(tmp_path / "calls.sqlite")
    store.open()
    assert [store.put(key, "m", Answer("{}")) for key in "ab"] == [True, False]
    assert (store.get("a"), store.get("b")) == (Answer("{}"), None)
    store.drop("a")
    assert store.get("a") is None


def test_equal_questions_of_a_run_are_one_call_where_the_store_failed(stub: Stub) -> None:
    asyncio.run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": "One."}))
    store = usable_store()._store
    assert store is not None
    store.close()
    judge = spec(stub, concurrency=1)
    # One call at a time, so that the claims are there before the second metric asks for them.
    both = Hub([f"a = faithfulness(judge={judge!r})", f"b = faithfulness(judge={judge!r}, idk=1)"])
    report = both.evaluate(**columns(3))
    assert (report.usage.calls, report.usage.cached) == (6, 6)


def test_a_store_that_another_process_writes_to_ends_no_run(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run_store, "_BRIEF", 0.001)
    asyncio.run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": "One."}))
    with sqlite3.connect(Path(run_store.cache_folder(), "calls.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING, "metrichub"):
            report = hub(stub).evaluate(**columns(3))
        other.rollback()
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    [said] = [record.getMessage() for record in caplog.records]
    assert "locked; " in said
    assert said.endswith("the run goes on without it")


def test_a_run_waits_for_other_writers_for_a_second_at_most(stub: Stub) -> None:
    asyncio.run(OpenAIJudge(model="stub", base_url=stub.url).extract(CLAIMS, {"text": "One."}))
    store = usable_store()._store
    assert store is not None
    # In milliseconds; it was a minute.
    assert store._do("PRAGMA busy_timeout", ()) == [(1000,)]


def test_a_store_is_opened_off_the_loop_and_once(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    opened = Store.__init__

    def noted(self: Store, *given: Any) -> None:
        threads.append(threading.current_thread())
        opened(self, *given)

    monkeypatch.setattr(Store, "__init__", noted)
    assert hub(stub).evaluate(**columns(5)).failed == 0
    assert len(threads) == 1
    assert threads[0].name != "metrichub-judges"
