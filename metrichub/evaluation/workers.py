"""Work spread over processes: parts go out, measurements come back in their order."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any

from metrichub.catalog.foreign_code import Interruption
from metrichub.errors import MetricError, ScoringError
from metrichub.evaluation.measurement import Measurement
from metrichub.models.secrets import secrets_travel
from metrichub.models.usage import share_limits

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from metrichub.data.batch import Batch

Work = Callable[["Batch"], Measurement]

_side_by_side = 1
_measuring = _interrupted = False


def processes() -> int:
    """How many processes measure at the same time, this one included; 1 without workers.

    A metric whose library starts threads should start that many times fewer.
    """
    return _side_by_side


def distribute(work: Work, parts: Iterable[Batch], workers: int) -> Iterator[Measurement]:
    """The measurement of every part in order, made in `workers` processes, a few parts in flight.

    A single part is measured here, as no process would be faster.

    Raises:
        MetricError: the work can't be sent, or a process died; else what the work raises.
    """
    payload = _payload(work)
    coming = iter(parts)
    first = list(islice(coming, 2))
    if len(first) < 2:
        yield from map(work, first)
        return
    yield from _in_pool(payload, chain(first, coming), workers)


def _in_pool(payload: bytes, parts: Iterable[Batch], workers: int) -> Iterator[Measurement]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import resource_tracker

    # As it starts, it lets Ctrl-C through.
    resource_tracker.ensure_running()
    pool = ProcessPoolExecutor(
        workers,
        mp_context=_context(),
        initializer=_settle,
        initargs=(
            workers,
            os.getcwd(),
            dict(os.environ),
            signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        ),
    )
    waiting: deque[Future[Measurement]] = deque()
    try:
        for part in parts:
            # The first starts the processes.
            with uninterrupted():
                waiting.append(pool.submit(_run, payload, part))
            if len(waiting) > 2 * workers:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
    except BrokenProcessPool as error:
        raise MetricError(
            "a worker process died: it ran out of memory, or a metric's library crashed; run with "
            "workers=1 to see where. A script that uses workers has to start its work under "
            "`if __name__ == '__main__':`"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _result(future: Future[Measurement]) -> Measurement:
    try:
        return future.result()
    except ScoringError as error:
        if not isinstance(cause := vars(error).pop("cause", None), Exception):
            raise
        # What came with the error is the text of the other process's traceback.
        cause.__cause__ = error.__cause__
        raise error from cause


def _context() -> BaseContext:
    """Processes that start afresh: a forked copy of a process with threads may hang."""
    from multiprocessing import get_context

    if sys.platform == "linux":
        # The server imports numpy once, and stays for the next call.
        context = get_context("forkserver")
        context.set_forkserver_preload(["metrichub.evaluation.silent", "metrichub.evaluation.run"])
        return context
    return get_context("spawn")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back, also in processes that start: an import would print a traceback."""
    if sys.platform == "win32":
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A signal that another thread takes, such as one of numpy's, interrupts the main one all the
    # same.
    came: list[Any] = []
    handler = signal.getsignal(signal.SIGINT)
    holds = callable(handler) and current_thread() is main_thread()
    if holds:
        signal.signal(signal.SIGINT, lambda *interrupt: came.append(interrupt))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if holds:
            signal.signal(signal.SIGINT, handler)
        if came and callable(handler):
            handler(*came[0])


def _settle(workers: int, folder: str, environment: Mapping[str, str], ignored: bool) -> None:
    """Tell a worker how many there are and where its parent is, which it doesn't outlive.

    A parent that ignores Ctrl-C, as one in the background of a script does, goes on to need it.
    What judges may be sent a minute is divided among all workers.
    """
    global _side_by_side  # a process is told once, at its start
    _side_by_side = workers
    share_limits(workers)
    # What a metric prints must not stand in the middle of a result.
    sys.stdout = sys.stderr
    Interruption.pressed = False
    signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else _interrupt)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()
    os.chdir(folder)
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)


def _interrupt(*_: object) -> None:
    """End what is measured, now and later; half a result would be waited for without end."""
    global _interrupted  # a handler of signals has no other way
    _interrupted = Interruption.pressed = True
    if _measuring:
        raise KeyboardInterrupt


def _end_with_parent() -> None:
    """Leave when the parent is gone: killed, it tells its workers nothing, and they would wait."""
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        os._exit(1)


def _payload(work: Work) -> bytes:
    try:
        with secrets_travel():
            return pickle.dumps(work)
    except Exception as error:
        raise MetricError(_unpicklable(error)) from error


def _unpicklable(error: Exception) -> str:
    return (
        f"a metric or reduce can't be sent to other processes ({error}); define its class or "
        "function at the top of a module that can be imported, or use workers=1"
    )


@lru_cache(maxsize=1)
def _loaded(payload: bytes) -> Work:
    work: Work = pickle.loads(payload)
    return work


def _run(payload: bytes, part: Batch) -> Measurement:
    global _measuring  # a handler of signals reads it
    _measuring = True
    try:
        if _interrupted:
            raise KeyboardInterrupt
        return _measured(payload, part)
    finally:
        _measuring = False


def _measured(payload: bytes, part: Batch) -> Measurement:
    try:
        work = _loaded(payload)
    # Whatever the import of a metric's module raises.
    except Exception as error:  # noqa: BLE001  # of any import
        raise MetricError(_unpicklable(error)) from None
    try:
        return work(part)
    except ScoringError as error:
        # A pickle leaves out what an exception was raised from.
        if isinstance(error.__cause__, Exception) and _is_picklable(error.__cause__):
            vars(error)["cause"] = error.__cause__
        raise
    except Exception as error:
        if _is_picklable(error):
            raise
        raise MetricError(f"{type(error).__name__}: {error}") from None


def _is_picklable(error: Exception) -> bool:
    """Whether an exception comes out of a pickle; one that doesn't would break the pool."""
    try:
        pickle.loads(pickle.dumps(error))
    # An exception of a plugin's own may fail in any way as it is made anew.
    except Exception:  # noqa: BLE001  # of any code
        return False
    return True
