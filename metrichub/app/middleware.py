"""Around every request: who may call, how much they may send, and answers that arrive."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metrichub.app.problem import Problem, problem
from metrichub.app.settings import MEBIBYTE, ServerSettings

PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": browsers then call the origin of our own forms "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_READING = ("GET", "HEAD", "OPTIONS")


class Guard:
    """Refuses what comes by a foreign name or from a foreign page; adds headers to every answer."""

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, answer: Callable[[Request, Problem], Response]
    ) -> None:
        self.app, self.settings, self.answer = app, settings, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = refused(scope["method"], Headers(scope=scope), self.settings)
        app = self.answer(Request(scope), refusal) if refusal else self.app
        await app(scope, receive, guarded)


def refused(method: str, headers: Headers, settings: ServerSettings) -> Problem | None:
    """Why a request is refused by its headers, or None.

    A page elsewhere may have made its own name mean this machine, or may post a form here.
    """
    host = headers.get("host", "")
    if not _is_ours(host, settings):
        return problem(
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
        return problem(403, "ForeignOrigin", "pages of other servers can't send requests here")
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


def client_of(scope: Scope) -> str:
    """Who calls: an address, or of IPv6 the network, in which one machine may have any address.

    Headers can say anything; only those of a proxy that is known count, and then stand here.
    """
    name = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return str(name)
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), 64), strict=False))


class Bounded:
    """Ends the reading of a body that is longer than `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on with a body that raises where it grows too long."""
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self.limit:
            raise self._over()
        size = 0

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limit:
                raise self._over()
            return message

        await self.app(scope, bounded, send)

    def _over(self) -> Problem:
        shown = f"{self.limit // MEBIBYTE} MB" if self.limit >= MEBIBYTE else f"{self.limit} bytes"
        return problem(413, "TooLarge", f"the request is larger than {shown}, the limit here")


class Drained:
    """Reads up to `most` bytes behind an answer that was given before the body had ended.

    A connection that is closed with bytes unread is reset, and takes the answer with it. It takes
    up to `seconds` for it; what comes later is cut off.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and drop what is left of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(Headers(scope=scope), receive)

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start" and body.unread:
                MutableHeaders(scope=message)["Connection"] = "close"
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                # Whoever listens while it sends can stop now; others send all of it first.
                await send({**message, "more_body": True})
                with anyio.move_on_after(self.seconds):
                    await body.drop(self.most)
                message = {"type": "http.response.body"}
            await send(message)

        await self.app(scope, body.receive, answered)


class _Body:
    """The body of a request, and whether there is more of it."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self._receive = receive
        self.unread = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        # Such a client sends its body when it is asked to, which reading does.
        self._is_held = "expect" in headers

    async def receive(self) -> Message:
        """The next part."""
        self._is_held = False
        message = await self._receive()
        self.unread = message["type"] == "http.request" and message.get("more_body", False)
        return message

    async def drop(self, most: int) -> None:
        """Read what is left, up to so many bytes."""
        while self.unread and not self._is_held and most > 0:
            most -= len((await self.receive()).get("body", b""))
