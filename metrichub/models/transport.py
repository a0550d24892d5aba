"""Transport: the HTTP client under the openai package, with a limit on the time of a reply.

The client's own timeout is between two bytes, so that a server that drips holds a slot for ever.
Here a call ends after its seconds, and a success that isn't JSON, as gateways send while a server
restarts, becomes a 502, which the client tries again. A success that holds an error, alone or in
place of the rest of a reply, gets the status that the error names. A request that a server sends on
goes to no other host or port. While a server is busy, the limiter says when the next request goes
out; other failures are tried again by the openai package.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from openai import DEFAULT_CONNECTION_LIMITS, DefaultAsyncHttpxClient

from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.models.call import running_call
from metrichub.models.failures import FAILED_DEPENDENCY, PENDING, seconds_of
from metrichub.models.limits import BUSY, asked_wait
from metrichub.models.usage import Answer

# The openai package 3 stands on httpx2, earlier ones on httpx: the same classes, by either name.
_base = next(base for base in DefaultAsyncHttpxClient.__mro__ if base.__name__ == "AsyncClient")
httpx: Any = import_module(_base.__module__.partition(".")[0])

_BAD_GATEWAY, _CONFLICT, _TOO_MANY = 502, 409, 429
_IDLE = 30
"""Seconds that a connection is kept for the next call.

With the client's own 5, httpcore 1 may close one that a call of a busy process was just given.
"""


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
    """An HTTP client whose requests belong to the running call, and end in time."""

    def __init__(self, transport: Any = None) -> None:
        other = {} if transport is None else {"transport": transport}
        super().__init__(
            event_hooks={"response": [_stay]},
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
            Ended: the run may send no more, or the server is busy for too long.
            ReadTimeout: it took more seconds than the request's timeout.
        """
        call = running_call.get(None)
        if call is None:
            return await self._reply(request, how)
        try:
            while True:
                await call.begin()
                try:
                    reply = await self._reply(request, how)
                except BaseException as error:
                    timed_out = isinstance(error, httpx.TimeoutException)
                    again = timed_out and call.time_out(seconds_of(request, error))
                    # The server may bill what it began.
                    call.end()
                    if not again:
                        raise
                    continue
                if reply.is_success:
                    call.limiter.succeed(call.sent, seconds_of(request))
                elif PENDING not in reply.headers:
                    call.end(Answer(""))
                if reply.status_code not in BUSY or _is_quota_spent(reply):
                    return reply
                call.limiter.limit(asked_wait(reply.headers), call.sent, reply.status_code)
        except JudgeError as error:
            raise Ended(error) from None

    async def _reply(self, request: Any, how: dict[str, Any]) -> Any:
        seconds = seconds_of(request)
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                reply = await super().send(request, **how)
        except TimeoutError as error:
            raise httpx.ReadTimeout("the reply took too long", request=request) from error
        if reply.is_success and (failure := _failure_in(reply.content)):
            status, cause = failure
            return httpx.Response(status, json={"error": cause}, request=request)
        if reply.status_code == FAILED_DEPENDENCY:
            reply.headers.setdefault("x-should-retry", "true")
        if _is_quota_spent(reply):
            reply.headers["x-should-retry"] = "false"
        return reply


async def _stay(response: Any) -> None:
    """Raise where a server redirects to another host or port: texts and keys don't follow."""
    if not response.has_redirect_location:
        return
    here, to = response.url, response.url.join(response.headers["location"])
    if _place(to) != _place(here):
        raise Ended(
            JudgeUnavailable(
                f"the server at {_shown(here)} redirects to {_shown(to)}, where texts and keys "
                "don't follow; set base_url to the address that is meant"
            )
        )


def _place(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _shown(url: Any) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"


def _is_quota_spent(reply: Any) -> bool:
    return reply.status_code == _TOO_MANY and b'"insufficient_quota"' in reply.content


def _failure_in(content: bytes) -> tuple[int, Any] | None:
    """The status and the error of a success that isn't JSON, or that holds an error.

    Some gateways send one alone, or in a choice whose text it ended.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        start = " ".join(content[:400].decode("utf-8", "replace").split())[:300] or "nothing"
        return _BAD_GATEWAY, {"message": f"a reply that isn't JSON: {start}"}
    choices = body.get("choices")
    first = choices[0] if choices and isinstance(choices, list) else body
    if not isinstance(first, dict) or body.get("data"):
        return None
    ended = first.get("finish_reason") == "error"
    if not (error := first.get("error") or (ended and "the reply ended in an error")):
        return None
    error = error if isinstance(error, dict) else {"message": str(error)}
    code = error.get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else _BAD_GATEWAY, error
