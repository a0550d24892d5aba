"""The workers: jobs that hang, die, fail or are too many harm no other."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
import anyio.to_thread
from starlette.testclient import TestClient

from metrichub.app import pool as pools
from metrichub.app.pool import Pool
from metrichub.app.problem import Problem, Refusal
from tests.app_client import CATS, calling

LONG = 60.0
# More than a worker has that has done nothing yet.
MEMORY = 1024 << 20
# 2 to the power of 40 ways to cut the text into runs of "a", none of which a "b" follows.
RUNAWAY = {"metrics": ["regex_match"], "predictions": ["a" * 40 + "!"], "patterns": ["(a+)+b"]}


def runaway() -> bool:
    return re.match("(a+)+b", "a" * 40) is None


def grow() -> int:
    return len(bytes(2 * MEMORY))


def die() -> None:
    os._exit(1)


def fail() -> None:
    raise KeyError("a plugin's slip")


def refuse() -> Refusal:
    return Refusal("MissingColumn", "there is no such column")


@pytest.fixture
def pool() -> Iterator[Pool]:
    found = Pool(1, 1, MEMORY)
    yield found
    found.close()


def problem_of(pool: Pool, job: Any, seconds: float = LONG) -> Problem:
    async def asked() -> Problem:
        with pytest.raises(Problem) as caught:
            await pool.run(job, client="me", seconds=seconds)
        assert await pool.run(os.getpid, client="me", seconds=LONG) != os.getpid()
        return caught.value

    return anyio.run(asked)


def test_a_job_that_hangs_is_ended_and_the_next_one_is_done(pool: Pool) -> None:
    found = problem_of(pool, runaway, 0.2)
    assert (found.status_code, found.refusal.error) == (503, "TimeLimit")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_a_job_that_takes_too_much_memory_is_ended_and_the_next_one_is_done(pool: Pool) -> None:
    async def asked() -> set[int]:
        first = await pool.run(os.getpid, client="me", seconds=LONG)
        with pytest.raises(Problem, match="more than 1,024 MB of memory and was stopped") as caught:
            await pool.run(grow, client="me", seconds=LONG)
        assert (caught.value.status_code, caught.value.refusal.error) == (413, "TooLarge")
        return {first, await pool.run(os.getpid, client="me", seconds=LONG)}

    # What the process held is gone with it.
    assert len(anyio.run(asked)) == 2


def test_a_job_that_kills_its_process_harms_no_other(pool: Pool) -> None:
    found = problem_of(pool, die)
    assert (found.status_code, found.refusal.error) == (500, "Defect")


def test_a_job_that_raises_is_a_defect_with_its_cause(pool: Pool) -> None:
    found = problem_of(pool, fail)
    assert (found.status_code, found.refusal.error) == (500, "Defect")
    assert "KeyError" in found.detail


def test_a_refusal_blames_the_request(pool: Pool) -> None:
    found = problem_of(pool, refuse)
    assert (found.status_code, found.refusal.error) == (422, "MissingColumn")


def test_a_worker_that_died_while_it_waited_is_replaced(pool: Pool) -> None:
    async def asked() -> int:
        waiting = await pool.run(os.getpid, client="me", seconds=LONG)
        process = next(p for p in multiprocessing.active_children() if p.pid == waiting)
        os.kill(waiting, 9)
        process.join()
        return await pool.run(os.getpid, client="me", seconds=LONG)

    assert anyio.run(asked) != os.getpid()


def test_one_process_does_many_jobs(pool: Pool) -> None:
    async def asked() -> set[int]:
        return {await pool.run(os.getpid, client="me", seconds=LONG) for _ in range(3)}

    assert len(anyio.run(asked)) == 1


def test_a_job_that_is_cancelled_is_ended(pool: Pool) -> None:
    async def asked() -> int:
        with anyio.move_on_after(0.2):
            await pool.run(runaway, client="me", seconds=LONG)
        return await pool.run(os.getpid, client="me", seconds=LONG)

    assert anyio.run(asked) != os.getpid()


def test_a_job_that_is_cancelled_while_its_process_starts_is_ended(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, cancelled, started = threading.Event(), threading.Event(), threading.Event()
    processes: list[Any] = []
    start = SpawnProcess.start

    def slow_start(process: Any) -> None:
        starting.set()
        assert cancelled.wait(LONG)
        start(process)
        processes.append(process)
        started.set()

    monkeypatch.setattr(SpawnProcess, "start", slow_start)

    async def cancel() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(pool.run, runaway, client="me", seconds=LONG))
            assert await anyio.to_thread.run_sync(starting.wait, LONG)
            tasks.cancel_scope.cancel()
        cancelled.set()

    anyio.run(cancel)
    assert started.wait(LONG)
    try:
        assert wait([processes[0].sentinel], LONG), "the process goes on"
    finally:
        processes[0].kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no clock that ends a process")
def test_a_worker_whose_server_is_gone_ends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_GRACE", 0.1)
    worker = pools._Worker(MEMORY)
    # Nobody ends it when its time is over.
    monkeypatch.setattr(worker._connection, "poll", lambda seconds: True)
    with pytest.raises(EOFError):
        worker.ask(runaway, (), 0.1)
    worker._process.join(LONG)
    assert worker._process.exitcode == -signal.SIGALRM


def test_jobs_beyond_the_waiting_ones_are_refused_at_once(pool: Pool) -> None:
    async def asked() -> list[str]:
        said: list[str] = []

        async def one() -> None:
            try:
                await pool.run(os.getpid, client="me", seconds=LONG)
                said.append("done")
            except Problem as error:
                said.append(f"{error.status_code} {error.refusal.error}")

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
        return said

    # One slot and one place to wait: the third finds neither.
    assert sorted(anyio.run(asked)) == ["503 Busy", "done", "done"]


def set_seconds(client: TestClient, seconds: float) -> None:
    app: Any = client.app
    service = app.state.service
    limits = replace(service.settings.limits, seconds=seconds)
    service.settings = replace(service.settings, limits=limits)


def test_a_pattern_that_runs_away_costs_only_its_own_request() -> None:
    with calling() as client:
        body = {"metrics": ["bleu"], **CATS}
        assert client.post("/api/score", json=body).status_code == 200
        set_seconds(client, 0.3)
        answer = client.post("/api/score", json=RUNAWAY)
        assert (answer.status_code, answer.json()["error"]) == (503, "TimeLimit")
        set_seconds(client, LONG)
        assert client.post("/api/score", json=body).status_code == 200
