"""Worker processes that score, and the turns by which no client keeps all others waiting.

A metric that hangs can be ended, and the server lives on. A thread wouldn't do: a regular
expression that runs away holds the interpreter's lock, and with it every thread of the process.
"""

from __future__ import annotations

import signal
import sys
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from metrichub.app.problem import Problem, Refusal, problem
from metrichub.app.settings import MEBIBYTE

T = TypeVar("T")

# A worker whose server is gone ends itself this many seconds after its job should have ended.
_GRACE = 10.0


class Pool:
    """Processes that do one job at a time: up to `size` a client, and one that is left to others.

    Up to `waiting` jobs of a client wait. A process may take `memory` bytes, where the system can
    hold it to that.
    """

    def __init__(self, size: int, waiting: int, memory: int) -> None:
        self._memory = memory
        self.turns = Turns(size, waiting)
        self._threads = anyio.CapacityLimiter(size + 1)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    async def run(
        self,
        job: Callable[..., T | Refusal],
        *arguments: Any,
        client: str,
        seconds: float,
        begun: Callable[[], object] = lambda: None,
    ) -> T:
        """What the job returns in a worker; one that is cancelled here is ended there.

        `begun` is called when it no longer waits for others.

        Raises:
            Problem: the job refused (422, 501, 502), failed (500), took more than `seconds` (503)
                or too much memory (413), or found too many others waiting (503).
        """
        async with self.turns.turn(client):
            begun()
            result = await self._in_worker(job, arguments, seconds)
        if isinstance(result, Refusal):
            raise Problem.of(result)
        return result

    async def _in_worker(
        self, job: Callable[..., T | Refusal], arguments: tuple[Any, ...], seconds: float
    ) -> T | Refusal:
        worker = next(self._alive(), None) or _Worker(self._memory)
        self._busy.add(worker)
        try:
            result: T | Refusal = await to_thread.run_sync(
                worker.ask, job, arguments, seconds, limiter=self._threads, abandon_on_cancel=True
            )
        except TimeoutError:
            worker.end()
            raise problem(
                503,
                "TimeLimit",
                f"it didn't finish within {seconds:g} seconds and was stopped; send less text, or "
                "start the server with a longer time limit",
            ) from None
        except MemoryError:
            # What it still holds goes with it.
            worker.end()
            raise problem(
                413,
                "TooLarge",
                f"it needed more than {self._memory // MEBIBYTE:,} MB of memory and was stopped; "
                "send less text, or start the server with a higher memory limit",
            ) from None
        except (EOFError, OSError):
            worker.end()
            raise problem(
                500, "Defect", "the process that scored died; was memory short?"
            ) from None
        except BaseException:
            worker.end()
            raise
        finally:
            self._busy.discard(worker)
        self._idle.append(worker)
        return result

    def _alive(self) -> Iterator[_Worker]:
        """Workers that wait for a job, those that died meanwhile left out."""
        while self._idle:
            if (worker := self._idle.pop()).alive:
                yield worker

    def close(self) -> None:
        """End all processes."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle.clear()


class _Worker:
    """One process that is asked to do one job after the other."""

    def __init__(self, memory: int) -> None:
        # A fresh interpreter: a fork would copy threads' locks as they happen to be.
        context = get_context("spawn")
        self._connection, self._theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(self._theirs, memory), daemon=True)
        self._ended = False

    def ask(self, job: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Any:
        """What the job returns.

        Raises:
            TimeoutError: it took too long.
            MemoryError: it took too much memory.
            EOFError, OSError: the process died.
        """
        if self._process.pid is None:
            self._process.start()
            # Without this copy the end of the process is the end of the pipe.
            self._theirs.close()
        if self._ended:
            # Nobody else ends it: while it started there was nothing to kill.
            self.end()
            raise EOFError
        self._connection.send((job, arguments, seconds + _GRACE))
        if not self._connection.poll(seconds):
            raise TimeoutError
        result = self._connection.recv()
        if isinstance(result, MemoryError):
            raise result
        return result

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def end(self) -> None:
        """End the process, whatever it does; one that is just being started ends itself."""
        self._ended = True
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()


def _work(connection: Connection, memory: int) -> None:
    # Ctrl+C goes to the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory)
    while True:
        try:
            job, arguments, seconds = connection.recv()
        except EOFError:
            return
        _limit_time(seconds)
        try:
            result = job(*arguments)
        except MemoryError:
            result = MemoryError()
        # A metric may raise anything; the worker lives on.
        except Exception as error:  # noqa: BLE001
            traceback.print_exc()
            result = Refusal("Defect", f"a defect: {type(error).__name__}: {error}")
        _limit_time(0)
        connection.send(result)


def _limit_time(seconds: float) -> None:
    """Let the system end this process after so many seconds; 0 takes that back.

    A server that was killed ends no worker, and a job that hangs neither sees that the pipe is
    closed nor lets a handler in Python run. Windows has no such clock.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(memory: int) -> None:
    """Let this process have so many bytes of its own; only Linux counts what it maps."""
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))


@dataclass(eq=False)
class _Turn:
    client: str
    come: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """A client has up to `share` turns at a time, and one more is there for the others.

    Up to `waiting` of a client's wait, and twice as many of all. Next is who has the fewest, and
    among those who came first.
    """

    def __init__(self, share: int, waiting: int) -> None:
        self._share, self._most = share, waiting
        self._waiting: list[_Turn] = []
        self._taken: Counter[str] = Counter()

    def taken(self, client: str) -> int:
        """How many turns a client has now."""
        return self._taken[client]

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """A turn, once it has come.

        Raises:
            Problem: too many wait (503).
        """
        turn = _Turn(client)
        self._waiting.append(turn)
        self._next()
        try:
            if not turn.come.is_set() and self._is_crowded(client):
                raise problem(503, "Busy", "too many requests are waiting; try again in a moment")
            await turn.come.wait()
            yield
        finally:
            if turn.come.is_set():
                self._taken[client] -= 1
                self._taken = +self._taken
            else:
                self._waiting.remove(turn)
            self._next()

    def _next(self) -> None:
        while self._taken.total() <= self._share:
            free = [turn for turn in self._waiting if self._taken[turn.client] < self._share]
            if not free:
                return
            turn = min(free, key=lambda turn: self._taken[turn.client])
            self._waiting.remove(turn)
            self._taken[turn.client] += 1
            turn.come.set()

    def _is_crowded(self, client: str) -> bool:
        own = sum(turn.client == client for turn in self._waiting)
        return own > self._most or len(self._waiting) > 2 * self._most
