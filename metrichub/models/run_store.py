"""The call store as runs use it: where it fails they go on without it, and never wait for long."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from metrichub.errors import JudgeUnavailable
from metrichub.models.store import RENEWAL, Store, cache_folder, new_owner
from metrichub.models.usage import Answer

T = TypeVar("T")
_OPENING, _BRIEF = 10.0, 1.0
"""Seconds that another process may keep the file from a run: to open it, and once it is open."""
_TRY_AGAIN = 30.0
"""Seconds after which a store is tried again that failed."""
_WAITING = 100_000
"""How many answers are kept in memory at most until a store that failed can be used again."""


class ForgivingStore:
    """A store that a run can do without: what fails is said once, and tried again later.

    Answers that it couldn't take stay in memory until then.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._opening: WeakKeyDictionary[Any, asyncio.Task[None]] = WeakKeyDictionary()
        self._store: Store | None = None
        self._rests_until = 0.0
        self._warned = False
        self._unwritten: dict[str, tuple[str, Answer]] = {}

    def settled(self) -> bool:
        """Whether there is nothing to open now: it is open, or has failed a moment ago."""
        return self._store is not None or time.monotonic() < self._rests_until

    def open(self) -> None:
        """Open the file unless that is settled; another process may keep one waiting."""
        with self._lock:
            if not self.settled():
                self._write(_OPENING)

    def write_waiting(self) -> None:
        """Write the answers that wait, if the store can be used by now; at the end of a run."""
        with self._lock:
            if self._unwritten:
                self._write(_BRIEF)

    def _write(self, patience: float) -> None:
        try:
            store = self._store or Store(self._path, patience, _BRIEF)
            while self._unwritten:
                key, waiting = next(iter(self._unwritten.items()))
                store.put(key, *waiting)
                self._unwritten.pop(key, None)
            self._store = store
        except JudgeUnavailable as error:
            self._failed(error)

    async def opened(self) -> None:
        """Open the file off the loop, once for all who ask for it meanwhile."""
        loop = asyncio.get_running_loop()
        task = self._opening.get(loop)
        if task is None or task.done():
            task = self._opening[loop] = asyncio.create_task(asyncio.to_thread(self.open))
        await asyncio.shield(task)

    def get(self, key: str) -> Answer | None:
        """See `Store.get`."""
        if waiting := self._unwritten.get(key):
            return waiting[1]
        return self._tried(lambda store: store.get(key), None)

    def put(self, key: str, model: str, answer: Answer) -> bool:
        """Whether the answer is kept; see `Store.put`."""
        if self._store and self._store.is_deleted():
            self._store.close()
            # The next answer that is asked for opens another.
            self._store = None
            self._warn(f"the call store {self._path} was deleted; the run begins another one")
        if self._tried(lambda store: store.put(key, model, answer), False):
            return True
        if has_room := len(self._unwritten) < _WAITING:
            self._unwritten[key] = (model, answer)
        return has_room

    def drop(self, key: str) -> None:
        """See `Store.drop`."""
        self._unwritten.pop(key, None)
        self._tried(lambda store: store.drop(key), None)

    def claim(self, key: str, owner: str) -> bool:
        """See `Store.claim`."""
        return self._tried(lambda store: store.claim(key, owner), True)

    def is_claimed(self, key: str, owner: str) -> bool:
        """See `Store.is_claimed`."""
        return self._tried(lambda store: store.is_claimed(key, owner), False)

    def release(self, key: str, owner: str) -> None:
        """See `Store.release`."""
        self._tried(lambda store: store.release(key, owner), None)

    def _tried(self, do: Callable[[Store], T], otherwise: T) -> T:
        if self._store is None:
            return otherwise
        try:
            return do(self._store)
        except JudgeUnavailable as error:
            self._failed(error)
            return otherwise

    def _failed(self, error: JudgeUnavailable) -> None:
        self._store = None
        self._rests_until = time.monotonic() + _TRY_AGAIN
        self._warn(f"{error}; the run goes on without it")

    def _warn(self, said: str) -> None:
        if not self._warned:
            logging.getLogger("metrichub").warning("%s", said)
        self._warned = True


AnyStore = Store | ForgivingStore
"""Where answers are kept: a file that has to be there, or one that a run can do without."""


class Claims:
    """The claims of one session; they are said again while what they are for is on its way."""

    def __init__(self) -> None:
        self._owner = new_owner()
        self._held: dict[str, AnyStore] = {}
        self._renewal: asyncio.TimerHandle | None = None

    def held_elsewhere(self, key: str, store: AnyStore) -> bool:
        """Whether another session asks for the answer."""
        return store.is_claimed(key, self._owner)

    def take(self, key: str, store: AnyStore) -> bool:
        """Whether the answer is this session's to ask for, from now until it is released."""
        if not store.claim(key, self._owner):
            return False
        self._held[key] = store
        if self._renewal is None:
            self._renew_later()
        return True

    def release(self, key: str) -> None:
        """Give up a claim, if there is one."""
        # A store without answers is false.
        if (store := self._held.pop(key, None)) is not None:
            store.release(key, self._owner)

    def renew(self) -> None:
        """Say all of them again."""
        self._renewal = None
        for key, store in self._held.items():
            store.claim(key, self._owner)
        if self._held:
            self._renew_later()

    def _renew_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._renewal = loop.call_later(RENEWAL, self.renew)


def usable_store() -> ForgivingStore:
    """The store in the cache folder as a run uses it, the same for all of a process."""
    return _forgiving(Path(cache_folder(), "calls.sqlite"), os.getpid())


async def opened_store() -> ForgivingStore:
    """The store as a run uses it, opened if it can be; the loop goes on meanwhile."""
    if not (store := usable_store()).settled():
        await store.opened()
    return store


@lru_cache(maxsize=8)
def _forgiving(path: Path, _: int) -> ForgivingStore:
    return ForgivingStore(path)
