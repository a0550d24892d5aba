"""A hub of models on loopback, with one model, which counts what it is asked for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c0ffee" * 6 + "0123"
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights" * 100,
    "pytorch_model.bin": b"a pickle",
    "onnx/model.onnx": b"other weights",
    "README.md": b"# A card",
}


class Hub:
    """What the server has, and what it was asked for."""

    def __init__(self) -> None:
        self.files, self.asked = dict(FILES), list[str]()
        self.cut: str | None = None
        self.address = ""


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.hub.asked.append(f"{self.command} {path}")
        if path.startswith("/toys/closed") or path.startswith("/api/models/toys/closed"):
            self.refuse(403, "GatedRepo", "Access to model toys/closed is restricted.")
        elif path.startswith("/api/models/toys/bert"):
            self.api(path.removeprefix("/api/models/toys/bert"))
        elif path.startswith(f"/toys/bert/resolve/{COMMIT}/"):
            self.file(path.removeprefix(f"/toys/bert/resolve/{COMMIT}/"), body)
        else:
            self.refuse(404, "RepoNotFound", "Repository not found")

    def api(self, rest: str) -> None:
        if rest.startswith("/tree/"):
            sizes = ((name, data, _oid(data)) for name, data in self.hub.files.items())
            self.say([{"type": "file", "path": n, "size": len(d), "oid": o} for n, d, o in sizes])
        elif rest in ("", "/revision/main", f"/revision/{COMMIT}"):
            siblings = [{"rfilename": n, "size": len(d)} for n, d in self.hub.files.items()]
            card = {"license": "mit"}
            self.say({"id": "toys/bert", "sha": COMMIT, "siblings": siblings, "cardData": card})
        else:
            self.refuse(404, "RevisionNotFound", "Invalid rev id")

    def file(self, name: str, body: bool) -> None:
        data = self.hub.files[name]
        self.send_response(200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{_oid(data)}"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data[: len(data) // 2] if name == self.hub.cut else data)
            self.close_connection = True

    def say(self, found: object) -> None:
        data = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status: int, code: str, message: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", message)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _oid(data: bytes) -> str:
    """Git's name of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def serving() -> Iterator[Hub]:
    """The hub at an address of its own."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
