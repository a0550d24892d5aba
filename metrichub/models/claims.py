"""Claims: what this process asks for, said in the call store so that no other asks for it too."""

from __future__ import annotations

import asyncio

from metrichub.models import store
from metrichub.models.owner import new_owner
from metrichub.models.run_store import Keeping


class Claims:
    """The claims of one session; they are said again while what they are for is on its way."""

    def __init__(self) -> None:
        self._owner = new_owner()
        self._held: dict[str, Keeping] = {}
        self._renewal: asyncio.TimerHandle | None = None

    def elsewhere(self, key: str, kept: Keeping) -> bool:
        """Whether another session asks for the answer."""
        return kept.is_claimed(key, self._owner)

    def taken(self, key: str, kept: Keeping) -> bool:
        """Whether the answer is this session's to ask for, from now until it is released."""
        if not kept.claim(key, self._owner):
            return False
        self._held[key] = kept
        if self._renewal is None:
            self._renew_later()
        return True

    def release(self, key: str) -> None:
        """Give up a claim, if there is one."""
        # A store without answers is false.
        if (kept := self._held.pop(key, None)) is not None:
            kept.release(key, self._owner)

    def renew(self) -> None:
        """Say all of them again."""
        self._renewal = None
        for key, kept in self._held.items():
            kept.claim(key, self._owner)
        if self._held:
            self._renew_later()

    def _renew_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._renewal = loop.call_later(store.RENEWAL, self.renew)
