"""Gathering: questions that samples ask one by one, answered by one run of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Q = TypeVar("Q")
A = TypeVar("A")

PAUSE = 0.003
"""Seconds in which more questions may arrive before a run starts."""


class Gathering(Generic[Q, A]):
    """Answers questions in runs of all that wait, in a thread, one run at a time."""

    def __init__(self, run: Callable[[Sequence[Q]], Sequence[A]]) -> None:
        self._run, self._lock = run, Lock()
        self._waiting: WeakKeyDictionary[
            asyncio.AbstractEventLoop, list[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]]
        ] = WeakKeyDictionary()
        self._serving: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]
        self._serving = WeakKeyDictionary()

    async def __call__(self, questions: Sequence[Q]) -> Sequence[A]:
        """The answers to some questions, in their order; raises what the run raises."""
        if not questions:
            return []
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Sequence[A]] = loop.create_future()
        self._waiting.setdefault(loop, []).append((questions, answered))
        task = self._serving.get(loop)
        if task is None or task.done():
            self._serving[loop] = loop.create_task(self._serve(loop))
        return await answered

    async def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting[loop]:
            await asyncio.sleep(PAUSE)
            asked, self._waiting[loop] = self._waiting[loop], []
            every = [question for questions, _ in asked for question in questions]
            try:
                answers = await asyncio.to_thread(self._locked, every)
            # Whoever asked gets what went wrong.
            except Exception as error:  # noqa: BLE001
                for _, answered in asked:
                    if not answered.done():
                        answered.set_exception(error)
                continue
            start = 0
            for questions, answered in asked:
                if not answered.done():
                    answered.set_result(answers[start : start + len(questions)])
                start += len(questions)

    def _locked(self, questions: Sequence[Q]) -> Sequence[A]:
        with self._lock:
            return self._run(questions)
