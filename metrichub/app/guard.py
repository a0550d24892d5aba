"""Around every request: who may call, how much they may send, and headers for every answer."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metrichub.app.problem import Problem, problem
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
UPLOADS = ("/", "/columns")
"""Where files are sent to."""
_READING = ("GET", "HEAD", "OPTIONS")


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
        limit = limits.upload + limits.body if scope["path"] in UPLOADS else limits.body

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
    return problem(413, "TooLarge", f"the request is larger than {shown}, the limit here")


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
