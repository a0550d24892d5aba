"""Connections: who opens many, or never ends a request, keeps nobody else from being answered."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the extra app is not installed")
pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
import uvicorn

from metrichub.app.guard import SlowClientProtocol
from tests.app_client import serving

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
SECONDS = 0.5


class Quick(SlowClientProtocol):
    open_by_address: ClassVar[Counter[str]] = Counter()
    most, seconds, part = 4, SECONDS, 1


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the body; takes longer than a client may, where it is "slow"."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    if body == b"slow":
        await anyio.sleep(2 * SECONDS)
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    http = getattr(request, "param", Quick)
    config = uvicorn.Config(echo, http=http, log_level="warning", timeout_keep_alive=60)
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[:2]
    server.should_exit = server.force_exit = True
    thread.join()


@contextmanager
def connected(address: tuple[str, int], *parts: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(address, timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
        yield connection


def ending(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    received = b""
    try:
        while part := connection.recv(4096):
            received += part
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD, HEAD + b"\r\n", HEAD + b"\r\nab"])
def test_a_request_that_is_never_finished_is_closed(address: tuple[str, int], sent: bytes) -> None:
    with connected(address, sent) as connection:
        assert ending(connection) == b""
    assert not +Quick.open_by_address


class Demanding(Quick):
    part = 2


@pytest.mark.parametrize("address", [Demanding], indirect=True)
def test_a_body_of_which_too_little_comes_in_time_is_closed(address: tuple[str, int]) -> None:
    with connected(address, HEAD, b"\r\n") as connection:
        for letter in (b"a", b"b", b"c"):
            threading.Event().wait(SECONDS * 2 / 3)
            try:
                connection.sendall(letter)
            except OSError:
                return
        assert ending(connection) == b""


def test_a_head_that_drips_has_no_more_time_than_one_that_stops(address: tuple[str, int]) -> None:
    with connected(address, HEAD) as connection:
        connection.settimeout(SECONDS / 10)
        for _ in range(100):
            try:
                connection.sendall(b"X-A: b\r\n")
                if not connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
    raise AssertionError("the connection stays open")


def answer(connection: socket.socket, body: bytes) -> bytes:
    """What comes until the body has come."""
    received = b""
    while not received.endswith(body):
        part = connection.recv(4096)
        assert part, received
        received += part
    return received


def test_a_body_that_goes_on_and_an_answer_that_takes_long_are_not_cut_off(
    address: tuple[str, int],
) -> None:
    with connected(address, HEAD, b"\r\n") as connection:
        for letter in (b"s", b"l", b"o", b"w"):
            threading.Event().wait(SECONDS / 2)
            connection.sendall(letter)
        assert answer(connection, b"slow").startswith(b"HTTP/1.1 200")
        # The next request on the same connection has its own time.
        connection.sendall(HEAD + b"\r\nabcd")
        assert answer(connection, b"abcd").startswith(b"HTTP/1.1 200")
        assert ending(connection) == b""


def test_requests_that_are_sent_at_once_are_all_answered(address: tuple[str, int]) -> None:
    with connected(address, (HEAD + b"\r\nslow") * 3) as connection:
        content = ending(connection)
    assert content.count(b"slow") == 3


def test_an_address_has_so_many_connections_and_no_more(address: tuple[str, int]) -> None:
    with ExitStack() as stack:
        for _ in range(Quick.most):
            stack.enter_context(connected(address, HEAD))
        assert ending(stack.enter_context(connected(address))) == b""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")
def test_1200_half_sent_requests_keep_no_other_client_from_being_answered() -> None:
    import resource

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < 4096:
        pytest.skip("the system allows too few open files")
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (files, most))
        # The server has as few files as a shell gives it.
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
        home, process = stack.enter_context(serving())
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, most))
        address = (str(urlsplit(home).hostname), int(urlsplit(home).port or 0))
        for _ in range(1200):
            stack.enter_context(connected(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n"))
        other = stack.enter_context(
            socket.create_connection(address, timeout=30, source_address=("127.0.0.2", 0))
        )
        other.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert ending(other).startswith(b"HTTP/1.1 200 OK")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert "Too many open files" not in errors
