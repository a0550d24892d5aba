"""Around every request: who may call, how much they may send and how slowly, and headers.

uvicorn limits neither how many connections an address has nor how long a request's head may take.
Without that, a client that opens many and never finishes a request keeps all others from being
accepted, as each takes one of the files that a process may open.
"""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from metrichub.app.problem import Problem
from metrichub.app.settings import MEBIBYTE, ServerSettings

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": browsers then call the origin of our own forms "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
UPLOADS = "/"
"""Where files are sent to."""
_READING = ("GET", "HEAD", "OPTIONS")
SECONDS = 15.0
"""How long a request's head may take, and each `PART` of its body."""
PART = 1 << 14
_FEWEST, _MOST = 16, 256


class Guard:
    """Refuses what comes by a foreign name, from a foreign page, or is too long."""

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, answer: Callable[[Request, Problem], Response]
    ) -> None:
        self.app, self.settings, self.answer = app, settings, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on with a body that raises where it grows too long."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limits, size = self.settings.limits, 0
        # A form holds a little more than its files.
        limit = limits.upload + limits.body if scope["path"] == UPLOADS else limits.body

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                # What is static has a tag, and is asked for again by that.
                is_static = scope["path"].startswith("/static/")
                headers.setdefault("Cache-Control", "no-cache" if is_static else "no-store")
            await send(message)

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise _too_large(limit)
            return message

        headers = Headers(scope=scope)
        refusal = refused(scope["method"], headers, self.settings)
        length = headers.get("content-length", "")
        if refusal is None and length.isdecimal() and int(length) > limit:
            refusal = _too_large(limit)
        app = self.answer(Request(scope), refusal) if refusal else self.app
        await app(scope, bounded, guarded)


def _too_large(limit: int) -> Problem:
    shown = f"{limit // MEBIBYTE} MB" if limit >= MEBIBYTE else f"{limit} bytes"
    return Problem(413, "TooLarge", f"the request is larger than {shown}, the limit here")


def refused(method: str, headers: Headers, settings: ServerSettings) -> Problem | None:
    """Why a request is refused by its headers, or None.

    A page elsewhere may have made its own name mean this machine, or may post a form here.
    """
    host = headers.get("host", "")
    if not _is_ours(host, settings):
        return Problem(
            400,
            "ForeignHost",
            "the server doesn't know this host name; start it with --allow-host NAME",
        )
    if method in _READING:
        return None
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin", "none") or (
        origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    ):
        return Problem(403, "ForeignOrigin", "pages of other servers can't send requests here")
    return None


def _is_ours(host: str, settings: ServerSettings) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name in settings.hosts:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return settings.public or address.is_loopback


def most_of_an_address() -> int:
    """The connections that one address may have open: a quarter of the files of this process."""
    if sys.platform == "win32":
        return _MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if files == resource.RLIM_INFINITY else max(_FEWEST, min(_MOST, files // 4))


class SlowClientProtocol(H11Protocol):
    """A connection of uvicorn's that is closed if its address has too many, or its client stalls.

    Twice as many of all addresses may be open.
    """

    open_by_address: ClassVar[Counter[str]] = Counter()
    most, seconds, part = most_of_an_address(), SECONDS, PART
    _address, _size = "", 0
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
        """Read on; a head has its time from the beginning, a body for each part."""
        is_head = not self._is_open()
        super().data_received(data)
        self._size = 0 if is_head else self._size + len(data)
        again = self._is_open() if is_head else self._size >= self.part
        self._size = 0 if again else self._size
        self._wait(again=again)

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
