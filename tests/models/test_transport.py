"""Limits on what a server sends: the time and size of a reply, and what is no JSON."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from metrichub import OpenAIJudge
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError, JudgeUnavailable, ParameterError
from metrichub.models.loop import run
from tests.judge_stub import Asked, Reply, Stub, failure, raw, says
from tests.judge_toys import judge

CLAIMS = Prompt("claims", "List the claims.")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def server(send: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that takes one connection after another, and sends what it likes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                with suppress(OSError):
                    send(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()


def ask(url: str, **more: object) -> list[str]:
    options = {
        "model": "stub",
        "base_url": url,
        "max_retries": 0,
        "timeout": 60,
        "cache": False,
    } | more
    return run(OpenAIJudge(**options).extract(CLAIMS, {"text": "One."}))  # type: ignore[arg-type]  # of several types


def test_a_server_that_drips_is_given_up_on_after_the_timeout() -> None:
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
        # Each byte comes within the timeout, and all of them never.
        while not over.wait(0.05):
            connection.sendall(b" ")

    with server(drip) as url:
        with pytest.raises(JudgeError, match=r"didn't answer within 0\.5 s; lower concurrency or"):
            ask(url, timeout=0.5)
        over.set()


def test_a_connection_is_kept_for_a_process_that_was_busy_for_ten_seconds(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, handlers = time.monotonic, []

    def note(asked: Asked) -> Reply:
        # The stub has one thread for each connection.
        handlers.append(threading.current_thread())
        return says('{"items": ["One."]}')(asked)

    async def both() -> None:
        openai = judge(stub, cache=False)
        await openai.extract(CLAIMS, {"text": "One."})
        monkeypatch.setattr(time, "monotonic", lambda: now() + 10)
        await openai.extract(CLAIMS, {"text": "Two."})

    stub.always = note
    run(both())
    assert len(handlers) == 2
    assert handlers[0] is handlers[1]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>restarting</html>",
        b"",
        b'{"choices": [',
        b'{"a": {"b": 1}',
        b"upstream error",
        b'{"error": {"message": "busy", "code": 500}}',
        b'{"error": {"message": "busy", "code": 500}, "choices": []}',
        # As OpenRouter ends a reply.
        b'{"choices": [{"error": {"code": 502, "message": "Upstream error"}, "message": {}}]}',
        b'{"choices": [{"finish_reason": "error", "message": {"content": "%s"}}]}' % (3000 * b"a"),
    ],
)
def test_a_success_that_is_no_json_is_tried_again_like_a_502(stub: Stub, body: bytes) -> None:
    stub.faults = [raw(body)]
    assert ask(stub.url, max_retries=1) == ["One."]
    assert len(stub.asked) == 2


def test_a_server_that_sends_nothing_else_is_named_with_what_it_sends(stub: Stub) -> None:
    stub.always = raw(b"<html>restarting</html>")
    with pytest.raises(JudgeError, match="a reply that isn't JSON: <html>restarting"):
        ask(stub.url)


def test_a_wait_within_the_timeout_is_kept(stub: Stub) -> None:
    stub.faults = [failure(429, "slow down", retry_after_ms="1")]
    assert ask(stub.url, max_retries=1, timeout=20.0) == ["One."]
    assert len(stub.asked) == 2


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
def test_a_body_that_is_no_json_is_refused_when_the_judge_is_made(value: object) -> None:
    with pytest.raises(ParameterError, match="extra_body") as caught:
        OpenAIJudge(model="stub", extra_body={"more": value})
    assert "values that JSON can hold" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["model", "messages", "input", "response_format", "stream"])
def test_a_body_that_changes_what_is_asked_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}.*; choose further parameters"):
        OpenAIJudge(model="stub", extra_body={name: "other", "top_k": 1})


def test_a_body_that_changes_a_parameter_that_is_set_is_refused() -> None:
    with pytest.raises(ParameterError, match="temperature can't be changed by it"):
        OpenAIJudge(model="stub", temperature=0.0, extra_body={"temperature": 1.0, "seed": 1})
    assert OpenAIJudge(model="stub", extra_body={"temperature": 1.0}).temperature is None


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_texts_follow_no_redirect_to_another_host(stub: Stub, status: int) -> None:
    # The same server, by its other name.
    other = stub.url.replace("127.0.0.1", "localhost")
    stub.faults = [failure(status, location=f"{other}/chat/completions?key=secret")]
    message = r"redirects to http://localhost:\d+, where texts and keys don't follow; set base_url"
    with pytest.raises(JudgeUnavailable, match=message) as caught:
        ask(stub.url)
    assert len(stub.asked) == 1
    assert "secret" not in str(caught.value)


def test_a_redirect_on_the_same_host_is_followed(stub: Stub) -> None:
    stub.faults = [failure(307, location=f"{stub.url}/chat/completions")]
    assert ask(stub.url) == ["One."]
    assert len(stub.asked) == 2
