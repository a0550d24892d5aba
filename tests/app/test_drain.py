"""A body that isn't read: its answer arrives nevertheless, and what is dropped has an end."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the extra app is not installed")
pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from metrichub.app.middleware import Drained
from tests.app_client import serving

FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
# More than the sockets on both sides hold, so that the client is still sending when it is refused.
SENT = 64 << 20
JSON = "Content-Type: application/json"
FORM = "Content-Type: multipart/form-data; boundary=b"
SAID = f"Content-Length: {SENT}"
UNSAID = "Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving("--max-upload", "1") as (found, _):
        parts = urlsplit(found)
        yield str(parts.hostname), int(parts.port or 0)


def answered(address: tuple[str, int], path: str, *headers: str) -> tuple[int, str]:
    """Status and text, for a client that sends everything before it reads anything."""
    head = "\r\n".join((f"POST {path} HTTP/1.1", "Host: localhost", *headers, "", ""))
    block = FILE.ljust(1 << 20, b"a")
    chunk = b"%x\r\n%s\r\n" % (len(block), block) if UNSAID in headers else block
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(head.encode())
        for _ in range(SENT // len(block)):
            connection.sendall(chunk)
        if UNSAID in headers:
            connection.sendall(b"0\r\n\r\n")
        found = HTTPResponse(connection)
        found.begin()
        return found.status, found.read().decode()


@pytest.mark.parametrize("length", [SAID, UNSAID])
@pytest.mark.parametrize("after", ["Connection: close", "Connection: keep-alive"])
@pytest.mark.parametrize(("path", "kind"), [("/api/score", JSON), ("/score", FORM)])
def test_the_refusal_of_a_large_body_arrives(
    address: tuple[str, int], path: str, kind: str, length: str, after: str
) -> None:
    status, text = answered(address, path, kind, length, after)
    assert status == 413
    assert "the limit here" in text


def test_so_does_any_answer_that_needs_no_body(address: tuple[str, int]) -> None:
    status, text = answered(address, "/api/score", UNSAID, "Connection: close")
    assert (status, json.loads(text)["error"]) == (415, "NotJson")
    foreign = (JSON, SAID, "Connection: close", "Origin: http://x.y")
    status, text = answered(address, "/api/score", *foreign)
    assert (status, json.loads(text)["error"]) == (403, "ForeignOrigin")


def test_a_client_that_waits_to_be_asked_is_answered_and_never_asked(
    address: tuple[str, int],
) -> None:
    head = ("POST /api/score HTTP/1.1", "Host: localhost", JSON, SAID, "Expect: 100-continue")
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall("\r\n".join((*head, "", "")).encode())
        # The end of the connection, as nothing else is to come.
        said = b"".join(iter(lambda: connection.recv(4096), b""))
    assert said.startswith(b"HTTP/1.1 413 ")


class Client:
    """A client whose body has no end, or that falls silent after its first part."""

    def __init__(self, silent: bool = False) -> None:
        self.silent, self.parts = silent, 0
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if self.silent and self.parts:
            await anyio.sleep_forever()
        self.parts += 1
        return {"type": "http.request", "body": b"12345", "more_body": True}

    async def send(self, message: Message) -> None:
        self.sent.append({**message, "parts": self.parts})


async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await PlainTextResponse("no", 413)(scope, receive, send)


def drained(client: Client, most: int, seconds: float) -> list[Message]:
    scope = {"type": "http", "headers": [(b"transfer-encoding", b"chunked")]}
    app = Drained(refusing, most, seconds)
    anyio.run(app, scope, client.receive, client.send)
    return client.sent


def test_the_answer_is_sent_first_and_a_body_without_end_is_cut_off() -> None:
    start, body, end = drained(Client(), 12, 60)
    assert (b"connection", b"close") in start["headers"]
    # One part is read before the answer; three more hold 12 bytes.
    assert (body["body"], body["more_body"], body["parts"]) == (b"no", True, 1)
    assert (end["type"], end.get("more_body", False), end["parts"]) == (
        "http.response.body",
        False,
        4,
    )


def test_a_client_that_falls_silent_is_left() -> None:
    *_, end = drained(Client(silent=True), 12, 0)
    assert end["parts"] == 1
