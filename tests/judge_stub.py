"""A server on loopback that speaks chat completions and embeddings, and misbehaves on order."""

import itertools
import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-canary-0123456789"
"""The key that no report, store, error or repr may show."""

_SILENT = -1
Reply = tuple[int, dict[str, str], bytes | None]
Fault = Callable[["Asked"], Reply]


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    path: str
    body: dict[str, Any]
    key: str
    headers: dict[str, str] = field(default_factory=dict)
    """By names in small letters."""

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def data(self) -> dict[str, Any]:
        """The texts to examine: the last user message that is JSON, after any examples."""
        contents = [entry["content"] for entry in self.body["messages"] if entry["role"] == "user"]
        document = json.loads([text for text in contents if text.startswith("{")][-1])
        assert isinstance(document, dict)
        return document

    @property
    def form(self) -> str:
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def schema(self) -> dict[str, Any]:
        schema = self.body.get("response_format", {}).get("json_schema", {}).get("schema")
        result = schema or json.loads(self.system.rpartition("JSON schema:\n")[2])
        assert isinstance(result, dict)
        return result


def judged(asked: Asked, indices: list[int] | None = None, verdict: str = "") -> dict[str, Any]:
    """Verdicts: "no" for an item that holds the word "unsupported", or the same for all."""
    items = {item["index"]: item["text"] for item in asked.data["items"]}
    return {
        "verdicts": [
            {
                "index": i,
                "reason": f"about {i}",
                "verdict": verdict or ("no" if "unsupported" in items.get(i, "") else "yes"),
            }
            for i in (list(items) if indices is None else indices)
        ]
    }


def answer(asked: Asked) -> dict[str, Any]:
    """What a model would say: sentences, verdicts, the middle of a scale, or A."""
    properties = asked.schema["properties"]
    if "items" in properties:
        text = " ".join(str(value) for value in asked.data.values())
        return {"items": [part for part in re.split(r"(?<=\.)\s+", text) if part.strip()]}
    if "verdicts" in properties:
        return judged(asked)
    if "score" in properties:
        scale = properties["score"]["enum"]
        return {"reason": "middling", "score": scale[len(scale) // 2]}
    return {"reason": "it is first", "winner": "A"}


def completion(content: str | None, **message: Any) -> Reply:
    """A chat completion with this content; `finish_reason` and parts of the message by name.

    `model` and `system_fingerprint` are what the server says of who replied.
    """
    finish = message.pop("finish_reason", "stop")
    replied = {"model": message.pop("model", "stub")}
    replied["system_fingerprint"] = message.pop("system_fingerprint", None)
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        **replied,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }
    return 200, {}, json.dumps(body).encode()


def failure(status: int, message: str = "it failed", code: str = "", **headers: str) -> Fault:
    """An error as OpenAI words it; `{key}` in the message is the key that was sent."""

    def fault(asked: Asked) -> Reply:
        error = {"message": message.format(key=asked.key), "code": code, "type": "stub"}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return status, sent, json.dumps({"error": error}).encode()

    return fault


def says(content: str | None, **message: Any) -> Fault:
    return lambda asked: completion(content, **message)


def verdicts(indices: list[int], verdict: str = "") -> Fault:
    return lambda asked: completion(json.dumps(judged(asked, indices, verdict)))


def dropped(asked: Asked) -> Reply:
    return 0, {}, None


def silent(asked: Asked) -> Reply:
    """No answer at all, for as long as the client waits."""
    return _SILENT, {}, None


def raw(body: bytes) -> Fault:
    return lambda asked: (200, {}, body)


@dataclass
class Stub:
    """The server: what was asked of it, and what it does next instead of answering."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    faults: list[Fault | None] = field(default_factory=list)
    always: Fault | None = None
    gate: threading.Barrier | None = None
    in_flight: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, asked: Asked) -> Reply:
        with self.lock:
            self.asked.append(asked)
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            fault = self.faults.pop(0) if self.faults else self.always
        try:
            if self.gate:
                self.gate.wait(30)
            if fault:
                return fault(asked)
            if asked.path.endswith("/embeddings"):
                return embeddings(asked)
            return completion(json.dumps(answer(asked)))
        finally:
            with self.lock:
                self.in_flight -= 1


def embeddings(asked: Asked) -> Reply:
    """For each text its length and its number of words, in reverse order."""
    texts = asked.body["input"]
    data = [
        {"object": "embedding", "index": i, "embedding": [float(len(t)), float(len(t.split()))]}
        for i, t in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    body = {"object": "list", "data": data[::-1], "model": "stub", "usage": usage}
    return 200, {}, json.dumps(body).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        pass


_NUMBERS = itertools.count(1)


@contextmanager
def serving(port: int = 0) -> Iterator[Stub]:
    """A running server, at a port of the system's choice unless given."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body go out together, so that neither waits for the other's receipt.
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, headers, content = stub.reply(
                Asked(self.path, body, key, {k.lower(): v for k, v in self.headers.items()})
            )
            if status == _SILENT:
                # Until the client hangs up.
                self.connection.recv(1)
                self.close_connection = True
                return
            if content is None:
                # A reset, as of a server that dies.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except (OSError, ValueError):
                self.close_connection = True

        def finish(self) -> None:
            try:
                super().finish()
            except (OSError, ValueError):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", port), Handler)
    # The system gives ports again, and a client keeps what it knows of an address: connections to
    # an earlier server, which would answer for this one, and the form of request that it took.
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/{next(_NUMBERS)}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
