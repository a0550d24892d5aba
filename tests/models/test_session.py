"""Sessions: what is sent for a run that has ended, and what for one that goes on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import NoReturn

import pytest

from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.models.call import running_call
from metrichub.models.limits import Limiter
from metrichub.models.session import Request, Session
from metrichub.models.usage import Answer, UsageTracker, track_usage


def session_of(slots: int) -> Session:
    def connect() -> NoReturn:
        raise NotImplementedError

    return Session(connect, Limiter("m", slots))


def request(name: str) -> Request:
    return Request({"name": name}, "model", lambda: ("", ""))


class Server:
    """Requests that go out by one slot, in which each waits until it is let go."""

    def __init__(self) -> None:
        self.session = session_of(1)
        self.sent: list[str] = []
        self.go = asyncio.Event()

    async def reply(self, name: str) -> str:
        async def ask(_: object) -> list[Answer]:
            call = running_call.get()
            async with self.session.limiter.slots:
                with call.sending("judge", 0, int):
                    await call.begin()
                    self.sent.append(name)
                    await self.go.wait()
                    if name == "wrong key":
                        raise JudgeUnavailable(name)
                    return [Answer(name)]

        return (await self.session.replies([request(name)], ask, lambda: None))[0]


def together(
    *runs: Callable[[Server], Coroutine[None, None, object]],
) -> tuple[Server, list[object]]:
    """What each run gives or raises, started in this order and let go at once."""

    async def main() -> tuple[Server, list[object]]:
        server = Server()
        tasks = []
        for run in runs:
            tasks.append(asyncio.create_task(run(server)))
            # Until it has asked for all that it asks for.
            for _ in range(5):
                await asyncio.sleep(0)
        server.go.set()
        return server, await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(main())


async def ended(server: Server) -> object:
    with track_usage():
        return await asyncio.gather(
            server.reply("wrong key"), server.reply("shared"), server.reply("own")
        )


def test_a_run_that_ended_sends_nothing_more_but_what_others_wait_for() -> None:
    async def other(server: Server) -> object:
        with track_usage():
            return await server.reply("shared")

    server, (first, second) = together(ended, other)
    assert isinstance(first, JudgeUnavailable)
    assert second == "shared"
    assert server.sent == ["wrong key", "shared"]


def test_a_caller_outside_any_run_gets_its_answer() -> None:
    async def outside(server: Server) -> object:
        return await server.reply("shared")

    server, (_, second) = together(ended, outside)
    assert second == "shared"
    assert server.sent == ["wrong key", "shared"]


def test_an_error_that_costs_one_sample_ends_no_run() -> None:
    async def ask(_: object) -> list[Answer]:
        raise JudgeError("one sample")

    async def main() -> UsageTracker:
        with track_usage() as tracker, pytest.raises(JudgeError):
            await session_of(1).replies([request("a")], ask, lambda: None)
        return tracker

    assert asyncio.run(main()).over is None


def test_more_failures_than_allowed_end_the_run_with_that_error() -> None:
    async def main() -> str:
        server = Server()
        server.go.set()
        with track_usage() as tracker:
            tracker.over = JudgeUnavailable("that was one too many")
            return await server.reply("a")

    with pytest.raises(JudgeUnavailable, match="one too many"):
        asyncio.run(main())
