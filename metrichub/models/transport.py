"""Transport: the HTTP client under the openai package, with limits on the time and size of a reply.

The client's own timeout is between two bytes, so that a server that drips holds a slot for ever,
and it reads a reply whatever its size. Here a call ends after its seconds, a reply of more than
`MOST` bytes is cut off while it comes, and a success that isn't JSON, as gateways send while a
server restarts, becomes a 502, which the client tries again. A success that holds an error, alone
or in place of the rest of a reply, gets the status that the error names. A request that a server
sends on goes to another port without the user's own headers, which may be secret, and to another
host not at all. The client waits as a server asks it to before it tries again, but for no longer
than one call may take.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterable
from email.utils import mktime_tz, parsedate_tz
from importlib import import_module
from typing import Any

from openai import DEFAULT_CONNECTION_LIMITS, DefaultAsyncHttpxClient

from metrichub.errors import JudgeError
from metrichub.models.pace import asked_wait
from metrichub.models.sending import sending_of_call
from metrichub.models.usage import Answer

# The openai package 3 stands on httpx2, earlier ones on httpx: the same classes, by either name.
_base = next(base for base in DefaultAsyncHttpxClient.__mro__ if base.__name__ == "AsyncClient")
httpx: Any = import_module(_base.__module__.partition(".")[0])

MOST = 8_000_000
"""Bytes of a reply at most."""
_BAD_GATEWAY, _NOT_FOUND, _CONFLICT, _TOO_LARGE = 502, 404, 409, 413
_TOO_MANY = 429
AGAIN = (424, 425, 498)
"""Statuses of a passing failure that the client doesn't try again of itself."""
_IDLE = 30
"""Seconds that a connection is kept for the next call.

With the client's own 5, httpcore 1 may close one that a call of a busy process was just given.
"""
_FEW = 2000
"""Bytes up to which a reply is read here; errors and cut replies are short."""
_HOME, _ELSEWHERE = "metrichub_home", "metrichub_elsewhere"
WAIT = "x-metrichub-wait"
"""The header of a reply whose sender asks to wait longer than a call may take: so many seconds."""
PENDING = "x-metrichub-pending"
"""The header of a reply that says that the answer isn't there yet."""


class FolderTransport(httpx.AsyncBaseTransport):  # type: ignore[misc]  # of either package
    """Replies without a server: those that `answer` gives for the path and body of a request.

    Where it gives none, the request isn't made again.
    """

    def __init__(self, answer: Callable[[str, bytes], tuple[int, Any] | None]) -> None:
        self._answer = answer

    async def handle_async_request(self, request: Any) -> Any:
        """The reply."""
        reply = self._answer(request.url.path, await request.aread())
        status, body = reply or (_CONFLICT, {"error": {"message": "the answer isn't there yet"}})
        headers = {"x-should-retry": "false"} | ({} if reply else {PENDING: "true"})
        return httpx.Response(status, json=body, headers=headers, request=request)


class Ended(BaseException):
    """An error of ours that ends a call: version 2 of openai tries again after any `Exception`."""

    def __init__(self, error: JudgeError) -> None:
        super().__init__(error)
        self.error = error


class LimitedClient(DefaultAsyncHttpxClient):
    """An HTTP client whose calls end in time, with replies of a limited size.

    The headers of these names stay with the server that is called first.
    """

    def __init__(self, secret: Iterable[str] = (), transport: Any = None) -> None:
        async def keep(request: Any) -> None:
            if _place(request.url) != request.extensions.get(_HOME):
                for name in secret:
                    request.headers.pop(name, None)

        async def stay(response: Any) -> None:
            to = response.url.join(response.headers.get("location", ""))
            if response.has_redirect_location and to.host != response.url.host:
                response.extensions[_ELSEWHERE] = f"{to.scheme}://{to.netloc.decode()}"
                # Without it the client goes nowhere.
                del response.headers["location"]

        other = {} if transport is None else {"transport": transport}
        super().__init__(
            event_hooks={"request": [keep], "response": [stay]},
            limits=httpx.Limits(
                max_connections=DEFAULT_CONNECTION_LIMITS.max_connections,
                max_keepalive_connections=DEFAULT_CONNECTION_LIMITS.max_keepalive_connections,
                keepalive_expiry=_IDLE,
            ),
            **other,
        )

    async def send(self, request: Any, **how: Any) -> Any:
        """The whole reply to one more request of the running call.

        Raises:
            Ended: the run may send no more, or a limit of the server lasts too long.
            ReadTimeout: it took more seconds than the request's timeout.
        """
        try:
            return await self._sent(request, how)
        except JudgeError as error:
            raise Ended(error) from None

    async def _sent(self, request: Any, how: dict[str, Any]) -> Any:
        if (sending := sending_of_call.get()) is None:
            return await self._reply(request, how)
        while True:
            await sending.begin()
            try:
                reply = await self._reply(request, how)
            except BaseException as error:
                timed_out = isinstance(error, httpx.TimeoutException)
                again = timed_out and sending.time_out(seconds_of(request, error))
                # The server may bill what it began.
                sending.end()
                if not again:
                    raise
                continue
            if reply.is_error and PENDING not in reply.headers:
                sending.end(Answer(""))
            if sending.pace is None:
                return reply
            if reply.status_code != _TOO_MANY or _is_quota_spent(reply):
                if reply.is_success:
                    sending.pace.succeed(sending.sent, seconds_of(request))
                return reply
            sending.pace.limit(_wait(reply.headers) or asked_wait(reply.headers), sending.sent)

    async def _reply(self, request: Any, how: dict[str, Any]) -> Any:
        seconds = seconds_of(request)
        request.extensions[_HOME] = _place(request.url)
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                response = await super().send(request, **{**how, "stream": True})
                try:
                    whole = await _whole(request, response)
                finally:
                    await response.aclose()
            wait = _wait(whole.headers)
            if whole.status_code in AGAIN:
                whole.headers.setdefault("x-should-retry", "true")
            if whole.is_error and _is_quota_spent(whole):
                whole.headers["x-should-retry"] = "false"
            if whole.is_error and wait > seconds:
                whole.headers.update({"x-should-retry": "false", WAIT: f"{wait:.0f}"})
            return whole
        except TimeoutError as error:
            raise httpx.ReadTimeout("the reply took too long", request=request) from error


def _is_quota_spent(reply: Any) -> bool:
    return reply.status_code == _TOO_MANY and b'"insufficient_quota"' in reply.content


def _place(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def seconds_of(request: Any, error: object = None) -> float:
    """The seconds that the reply to a request may take, or what an error says took too long."""
    part = "connect" if isinstance(error, httpx.ConnectTimeout) else "read"
    return request.extensions.get("timeout", {}).get(part) or math.inf


def _wait(headers: Any) -> float:
    """How many seconds a server asks to wait; 0 where it doesn't."""
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return float(headers[name]) / divisor
        except (KeyError, ValueError):
            continue
    date = parsedate_tz(headers.get("retry-after", ""))
    return mktime_tz(date) - time.time() if date else 0.0


async def _whole(request: Any, response: Any) -> Any:
    """The reply with its content read, or an error in its place."""
    if to := response.extensions.get(_ELSEWHERE):
        message = f"it redirects to {to}, and texts don't follow to another host"
        return httpx.Response(_NOT_FOUND, json={"error": {"message": message}}, request=request)
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MOST:
            message = f"the reply is longer than {MOST // 1_000_000} MB"
            error = {"error": {"message": message}}
            # The same request would get the same reply.
            headers = {"x-should-retry": "false"}
            return httpx.Response(_TOO_LARGE, json=error, headers=headers, request=request)
        parts.append(part)
    content = b"".join(parts)
    if response.is_success and not _is_object(content):
        error = {"error": {"message": f"a reply that isn't JSON: {_start(content)}"}}
        return httpx.Response(_BAD_GATEWAY, json=error, request=request)
    if response.is_success and (failure := _error_in(content)):
        status, cause = failure
        whole = cause if isinstance(cause, dict) else {"message": str(cause)}
        return httpx.Response(status, json={"error": whole}, request=request)
    headers = response.headers.copy()
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    return httpx.Response(response.status_code, headers=headers, content=content, request=request)


def _is_object(content: bytes) -> bool:
    """Whether it begins and ends as a JSON object does; to read it all would take as long again."""
    content = content.strip()
    if len(content) > _FEW:
        return content.startswith(b"{") and content.endswith(b"}")
    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False


def _error_in(content: bytes) -> tuple[int, Any] | None:
    """The status and the error of a success that holds one, as some gateways send.

    It stands alone, or in a choice whose text it ended.
    """
    # Inside of a text it would have backslashes.
    if b'"error"' not in content:
        return None
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    choices = body.get("choices")
    first = choices[0] if choices and isinstance(choices, list) else body
    if not isinstance(first, dict) or body.get("data"):
        return None
    ended = first.get("finish_reason") == "error"
    error = first.get("error") or (ended and "the reply ended in an error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else _BAD_GATEWAY
    return status, error


def _start(content: bytes) -> str:
    return " ".join(content[:400].decode("utf-8", "replace").split())[:300] or "nothing"
