"""Work in processes, which are ended at a stop, after a time limit, or for too much memory.

A thread wouldn't do: a regular expression that runs away holds the interpreter's lock, and with it
every thread of the process.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from anyio import BrokenWorkerProcess, CapacityLimiter, to_process

from metrichub.app.problem import Problem, Refusal
from metrichub.app.settings import MEBIBYTE

T = TypeVar("T")
# A worker whose server is gone ends itself this many seconds after its job should have ended.
_GRACE = 10.0
_LESS = "send less text, or start the server with a higher limit of"


class Workers:
    """Processes for up to `size` jobs at a time; up to `waiting` more wait for one.

    A process may take `memory` bytes, where the system can hold it to that.
    """

    def __init__(self, size: int, waiting: int, memory: int) -> None:
        self._limiter, self._waiting, self._memory = CapacityLimiter(size), waiting, memory

    async def run(
        self,
        job: Callable[..., T | Refusal],
        *arguments: Any,
        seconds: float,
        begun: Callable[[], object] = lambda: None,
    ) -> T:
        """The result of a job in a process, which is ended if this is cancelled.

        `begun` is called when the job no longer waits for others.

        Raises:
            Problem: the job refused (422, 501, 502) or failed (500), took more than `seconds`
                (503), or found too many others waiting (503).
        """
        if self._limiter.statistics().tasks_waiting >= self._waiting:
            raise Problem(503, "Busy", "too many requests are waiting; try again in a moment")
        async with self._limiter:
            begun()
            try:
                with anyio.fail_after(seconds):
                    result: T | Refusal = await to_process.run_sync(
                        _work, job, arguments, seconds + _GRACE, self._memory,
                        cancellable=True, limiter=CapacityLimiter(1),
                    )  # fmt: skip
            except TimeoutError:
                limit = f"it didn't finish within {seconds:g} seconds and was stopped"
                raise Problem(503, "TimeLimit", f"{limit}; {_LESS} time") from None
            except BrokenWorkerProcess:
                limit = f"it needed more than {self._memory // MEBIBYTE:,} MB of memory"
                message = f"{limit}, or crashed, and was stopped; {_LESS} memory"
                raise Problem(500, "WorkerEnded", message) from None
            except RecursionError:
                raise Problem(422, "InputError", "a value is nested too deeply") from None
        if isinstance(result, Refusal):
            if result.error == "Defect":
                logging.getLogger(__name__).error(result.message)
                last = result.message.strip().rpartition("\n")[2]
                result = Refusal("Defect", f"a defect; see the server's terminal for more: {last}")
            raise Problem.of(result)
        return result


def _work(
    job: Callable[..., T | Refusal], arguments: tuple[Any, ...], seconds: float, memory: int
) -> T | Refusal:
    """The result of a job, computed in its process."""
    # Ctrl+C goes to the server, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nobody reads what libraries write past Python, and a full pipe would stop them.
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    _limit(seconds, memory)
    try:
        return job(*arguments)
    except MemoryError:
        # What it still holds goes with it.
        os._exit(1)
    except RecursionError:
        return Refusal("InputError", "a value is nested too deeply")
    # A metric may raise anything; the worker lives on.
    except Exception:  # noqa: BLE001
        return Refusal("Defect", traceback.format_exc())
    finally:
        _limit(0, memory)


def _limit(seconds: float, memory: int) -> None:
    """Let the system end this process after so many seconds, and refuse it more memory.

    A server that was killed ends no worker, and a job that hangs neither sees that the pipe is
    closed nor lets a handler in Python run. Windows has no such clock; only Linux counts what a
    process maps.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        soft = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, most))
