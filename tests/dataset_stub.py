"""A server on loopback with one data set, owner/name, that speaks as the Hugging Face Hub."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0" * 40
FILES = {
    "train.jsonl": b'{"prediction": "a", "reference": "a"}\n',
    "test.jsonl": (
        b'{"prediction": "a b", "reference": "a b"}\n{"prediction": "c", "reference": "d"}\n'
    ),
}
_API = "/api/datasets/owner/name"
_FILE = "/datasets/owner/name/resolve/"


class _Handler(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)  # type: ignore[attr-defined]  # the list of `serving`
        status, headers, content = _reply(path, self.headers.get("Range"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


def _reply(path: str, ranged: str | None) -> tuple[int, dict[str, str], bytes]:
    name = path.rpartition("/")[2]
    if path in (_API, f"{_API}/revision/{COMMIT}"):
        siblings = [{"rfilename": file} for file in FILES]
        return (
            200,
            {},
            json.dumps({"id": "owner/name", "sha": COMMIT, "siblings": siblings}).encode(),
        )
    if path.startswith(f"{_API}/tree/"):
        files = [
            {"type": "file", "oid": "1" * 40, "size": len(content), "path": file}
            for file, content in FILES.items()
        ]
        return 200, {}, json.dumps(files).encode()
    if path.startswith(_FILE) and name in FILES:
        content, headers = FILES[name], {"ETag": '"1"', "X-Repo-Commit": COMMIT}
        if ranged is None:
            return 200, headers, content
        first, _, last = ranged.removeprefix("bytes=").partition("-")
        end = min(int(last or len(content)), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{end}/{len(content)}"
        return 206, headers, content[int(first) : end + 1]
    lacking = "EntryNotFound" if path.startswith(_FILE) else "RepoNotFound"
    return 404, {"X-Error-Code": lacking, "X-Repo-Commit": COMMIT}, b""


@contextmanager
def serving() -> Iterator[tuple[str, list[str]]]:
    """The server's address, and the paths that it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.asked = asked = []  # type: ignore[attr-defined]  # the handler finds it here
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
