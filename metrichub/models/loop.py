"""The private event loop: one daemon thread in each process runs all asynchronous observation.

So it works alike in scripts, notebooks, web servers and threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar

from metrichub.errors import MetricError

T = TypeVar("T")
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_started: ContextVar[list[Future[Any]] | None] = ContextVar("started", default=None)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine on the private loop; an interrupt cancels it there.

    Raises:
        MetricError: called on the private loop itself, which would wait for itself.
    """
    # The public function raises where no loop runs, which is the usual case.
    if asyncio._get_running_loop() is _loop():  # noqa: SLF001
        coroutine.close()
        raise MetricError("an async `observe` can't call a hub; await what it needs")
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    if (started := _started.get()) is not None:
        started.append(future)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def threaded(call: Callable[[], T]) -> T:
    """The result of a call in a thread; cancelling it cancels the coroutines that it runs."""
    started: list[Future[Any]] = []
    token = _started.set(started)
    try:
        return await asyncio.to_thread(call)
    except asyncio.CancelledError:
        for future in started:
            future.cancel()
        raise
    finally:
        _started.reset(token)


def _loop() -> asyncio.AbstractEventLoop:
    """This process's loop; a forked child gets its own, as threads don't survive a fork."""
    with _lock:
        if os.getpid() not in _loops:
            _loops.clear()
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="metrichub-judges", daemon=True).start()
            _loops[os.getpid()] = loop
        return _loops[os.getpid()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
