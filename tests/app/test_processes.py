"""The workers: jobs that hang, die, fail or are too many harm no other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

pytest.importorskip("anyio", reason="the extra app is not installed")
pytest.importorskip("starlette", reason="the extra app is not installed")

import anyio

from metrichub.app.problem import Problem, Refusal
from metrichub.app.processes import Workers

LONG = 60.0
# More than a worker has that has done nothing yet.
MEMORY = 1024 << 20


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


def slow() -> int:
    time.sleep(0.5)
    return os.getpid()


def nested() -> list[Any]:
    results: list[Any] = []
    for _ in range(100_000):
        results = [results]
    return results


def asked(*jobs: Any, seconds: float = LONG) -> list[Any]:
    """What each job gives, one after the other: its result, or a problem's status and name."""

    async def run() -> list[Any]:
        workers, results = Workers(1, 1, MEMORY), []
        for job in jobs:
            try:
                results.append(await workers.run(job, seconds=seconds if job is runaway else LONG))
            except Problem as error:
                results.append((error.status_code, error.refusal.error))
        return results

    return anyio.run(run)


def noisy() -> int:
    return os.write(2, b"x" * (1 << 20))


def test_a_library_may_write_as_much_as_it_likes() -> None:
    assert asked(noisy) == [1 << 20]


def test_one_process_does_many_jobs() -> None:
    assert len({*asked(os.getpid, os.getpid, os.getpid)} - {os.getpid()}) == 1


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        (runaway, (503, "TimeLimit")),
        (die, (500, "WorkerEnded")),
        pytest.param(
            grow,
            (500, "WorkerEnded"),
            marks=pytest.mark.skipif(
                sys.platform != "linux", reason="only Linux holds a process to its memory"
            ),
        ),
    ],
)
def test_a_job_that_hangs_dies_or_grows_is_ended_with_its_process_and_the_next_one_is_done(
    job: Any, problem: tuple[int, str]
) -> None:
    before, outcome, after = asked(os.getpid, job, os.getpid, seconds=0.5)
    assert outcome == problem
    assert len({before, after, os.getpid()}) == 3


def test_a_job_that_raises_or_refuses_is_told_and_its_process_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    before, *outcomes, after = asked(os.getpid, fail, refuse, nested, os.getpid)
    assert outcomes == [(500, "Defect"), (422, "MissingColumn"), (422, "InputError")]
    assert before == after
    # Where it failed stands on the server's terminal.
    assert "in fail" in caplog.text
    assert "a plugin's slip" in caplog.text


def test_what_a_defect_is_is_told_in_a_line() -> None:
    async def run() -> str:
        with pytest.raises(Problem) as caught:
            await Workers(1, 1, MEMORY).run(fail, seconds=LONG)
        return caught.value.refusal.message

    assert anyio.run(run).endswith('terminal for more: KeyError: "a plugin\'s slip"')


def test_a_job_that_is_cancelled_is_ended() -> None:
    async def run() -> int:
        workers = Workers(1, 1, MEMORY)
        with anyio.move_on_after(0.5):
            await workers.run(runaway, seconds=LONG)
        return await workers.run(os.getpid, seconds=LONG)

    assert anyio.run(run) != os.getpid()


def test_jobs_beyond_the_waiting_ones_are_refused_at_once() -> None:
    async def run() -> list[str]:
        workers, messages = Workers(1, 1, MEMORY), list[str]()

        async def job() -> None:
            try:
                await workers.run(slow, seconds=LONG, begun=lambda: messages.append("begun"))
                messages.append("done")
            except Problem as error:
                messages.append(f"{error.status_code} {error.refusal.error}")

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(job)
        return messages

    # One process and one place to wait: the third finds neither.
    assert sorted(anyio.run(run)) == ["503 Busy", "begun", "begun", "done", "done"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no clock that ends a process")
def test_a_worker_whose_server_was_killed_ends_itself() -> None:
    code = (
        "from metrichub.app.processes import _work\n"
        "from tests.app.test_processes import runaway\n"
        "_work(runaway, (), 0.2, 1 << 40)"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=LONG, check=False)
    assert ended.returncode == -signal.SIGALRM
