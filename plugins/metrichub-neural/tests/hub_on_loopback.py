"""A hub of models on loopback, which counts what it is asked for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "5eed" * 10


class ModelHub:
    """The server's files and its requests; `cut` names a file that it breaks off in."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self.models = {
            name: {
                str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            for name, folder in folders.items()
        }
        self.asked: list[str] = []
        self.cut: str | None = None
        self.address = ""


class _Handler(BaseHTTPRequestHandler):
    hub: ModelHub

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.hub.asked.append(f"{self.command} {path}")
        if "toys/gated" in path:
            self._send(403, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Restricted."})
            return
        for model, contents in self.hub.models.items():
            about, files = f"/api/models/{model}", f"/{model}/resolve/{COMMIT}/"
            if path.startswith(files):
                self._file(contents, path.removeprefix(files), body)
            elif path.startswith(f"{about}/tree/"):
                self._say([{"type": "file", **file} for file in self._listed(contents, "path")])
            elif path in (about, f"{about}/revision/main", f"{about}/revision/{COMMIT}"):
                siblings = self._listed(contents, "rfilename")
                card = {"license": "mit"}
                self._say({"id": model, "sha": COMMIT, "siblings": siblings, "cardData": card})
            elif path.startswith(about):
                self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
            else:
                continue
            return
        self._send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def _listed(self, files: dict[str, bytes], name: str) -> list[dict[str, object]]:
        return [{name: f, "size": len(data), "oid": _oid(data)} for f, data in files.items()]

    def _file(self, files: dict[str, bytes], name: str, body: bool) -> None:
        data = files[name]
        fields = {"X-Repo-Commit": COMMIT, "ETag": f'"{_oid(data)}"'}
        sent = data[: len(data) // 2] if name == self.hub.cut else data
        self._send(200, sent if body else b"", fields | {"Content-Length": str(len(data))})
        self.close_connection = True

    def _say(self, result: object) -> None:
        self._send(200, json.dumps(result).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _oid(data: bytes) -> str:
    """Git's name of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def serving(folders: dict[str, Path]) -> Iterator[ModelHub]:
    """The hub at an address of its own, with the models in some folders."""
    hub = ModelHub(folders)
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
