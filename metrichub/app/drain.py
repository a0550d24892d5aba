"""Answers that arrive: what is left of a request's body is dropped before its connection closes.

A connection that is closed with bytes unread is reset, and takes the answer with it.
"""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Drained:
    """Reads up to `most` bytes behind an answer that was given before the body had ended.

    It takes up to `seconds` for it; what comes later is cut off.
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
