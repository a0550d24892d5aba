"""Limits of connections that uvicorn doesn't have: how many an address may open, and how slowly.

Without them a client that opens many and never finishes a request keeps all others from being
accepted, as each takes one of the files that a process may open.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 15.0
"""How long a request's head may take, and how long its body may stand still."""
_FEWEST, _MOST = 16, 256


def most_of_an_address() -> int:
    """The connections that one address may have open: a quarter of the files of this process."""
    if sys.platform == "win32":
        return _MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if files == resource.RLIM_INFINITY else max(_FEWEST, min(_MOST, files // 4))


class Patient(H11Protocol):
    """A connection of uvicorn's that is closed if its address has too many, or its client stalls.

    Twice as many of all addresses may be open.
    """

    open_by_address: ClassVar[Counter[str]] = Counter()
    most, seconds = most_of_an_address(), SECONDS
    _address = ""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, or close it at once."""
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        super().connection_made(transport)
        counts = self.open_by_address
        counts[self._address] += 1
        if counts[self._address] > self.most or counts.total() > 2 * self.most:
            transport.abort()
        self._wait(again=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        counts = self.open_by_address
        counts[self._address] -= 1
        if not counts[self._address]:
            del counts[self._address]
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        had_head = self._is_open()
        super().data_received(data)
        self._wait(again=had_head or self._is_open())

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait(again=True)

    def _is_open(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, *, again: bool) -> None:
        """Give the client its time, from now on or as it runs; none while it waits for us."""
        if self._is_open() and not self.cycle.more_body:
            self._stop()
        elif again or self._timer is None:
            self._stop()
            self._timer = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
