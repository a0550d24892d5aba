"""Uploads: each has its place before any of it is written, and takes none of another client."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the extra app is not installed")
pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
import httpx2
from anyio import wait_all_tasks_blocked

from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import calling_from, serving, state_of, upload

ONE = ServerSettings(limits=ServerLimits(uploads=1, runs=1))
ENDLESS = json.dumps({"prediction": "a" * 40 + "!", "patterns": "(a+)+b"})
SHORT = json.dumps({"prediction": "a", "reference": "a"})
# More than is held in memory while a form is read.
LONG = f"{SHORT}\n" * 80_000


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much was written of each file that came with a form."""
    sizes: list[int] = []

    class Noted(SpooledTemporaryFile[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            sizes.append(0)

        def write(self, data: Any) -> int:
            sizes[-1] += len(data)
            return super().write(data)

    monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", Noted)
    return sizes


def test_a_file_without_a_place_is_refused_before_any_of_it_is_written(written: list[int]) -> None:
    async def told() -> list[int]:
        async with calling_from(ONE, "10.0.0.1", "10.0.0.2") as (first, other):
            await upload(first, ENDLESS, "regex_match")
            written.clear()
            refused = await upload(first, LONG, "wer")
            assert not written
            taken = await upload(other, LONG, "wer")
        return [refused.status_code, taken.status_code, *written]

    assert anyio.run(told) == [503, 303, len(LONG)]


async def slow(told: anyio.Event) -> AsyncIterator[bytes]:
    """A form with a file whose end comes when it is told to."""
    yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
    await told.wait()
    yield f"{SHORT}\r\n--b--\r\n".encode()


def test_a_file_that_is_still_arriving_has_its_place() -> None:
    async def told() -> list[int]:
        done, answers = anyio.Event(), list[httpx2.Response]()

        async def arriving(client: httpx2.AsyncClient) -> None:
            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            answers.append(await client.post("/score", content=slow(done), headers=headers))

        async with calling_from(ONE, "10.0.0.1", "10.0.0.2") as (first, other):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(arriving, first)
                await wait_all_tasks_blocked()
                answers += [await upload(one, SHORT, "wer") for one in (first, other)]
                done.set()
            # It named no metric, and its place is free again.
            answers.append(await upload(first, SHORT, "wer"))
        return [answer.status_code for answer in answers]

    assert anyio.run(told) == [503, 303, 422, 303]


def test_a_clients_results_are_never_removed_for_anothers() -> None:
    async def told() -> list[int]:
        async with calling_from(ONE, "10.0.0.1", "10.0.0.2") as (first, other):
            runs = []
            for client in (first, other, other):
                runs.append(await upload(client, SHORT, "wer"))
                while await state_of(client, runs[-1]) in ("waiting", "running"):
                    pass
            pages = [await first.get(run.headers["location"]) for run in runs]
            return [page.status_code for page in pages]

    assert anyio.run(told) == [200, 404, 200]


def begun(address: str, forwarded: str, stack: ExitStack) -> str:
    """The first line of the answer to an upload of which only the head is sent."""
    parts = urlsplit(address)
    to = (str(parts.hostname), int(parts.port or 0))
    connection = stack.enter_context(socket.create_connection(to, timeout=60))
    head = ["POST /score HTTP/1.1", "Host: localhost", f"X-Forwarded-For: {forwarded}"]
    head += ["Content-Type: multipart/form-data; boundary=b", "Content-Length: 100"]
    connection.sendall("\r\n".join((*head, "Expect: 100-continue", "", "")).encode())
    with connection.makefile("rb") as lines:
        return lines.readline().decode().strip()


@pytest.mark.parametrize(
    ("options", "forwarded", "answers"),
    [
        # Whoever calls directly can say anything.
        ((), "10.0.0.2", "503"),
        (("--trust-proxy", "10.0.0.0/8"), "10.0.0.2", "503"),
        (("--trust-proxy", "127.0.0.1"), "10.0.0.2", "100"),
        # What stands before the last address is what the client itself said.
        (("--trust-proxy", "127.0.0.1"), "10.0.0.2, 10.0.0.1", "503"),
    ],
)
def test_only_a_trusted_proxy_says_who_calls(
    options: tuple[str, ...], forwarded: str, answers: str
) -> None:
    with serving(*options) as (address, _), ExitStack() as stack:
        # The server asks for the body of each, so each has a place.
        for _ in range(ServerLimits().uploads):
            assert begun(address, "10.0.0.1", stack) == "HTTP/1.1 100 Continue"
        assert begun(address, "10.0.0.1", stack).split()[1] == "503"
        assert begun(address, forwarded, stack).split()[1] == answers
