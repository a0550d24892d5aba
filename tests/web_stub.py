"""A web server on loopback with a few files, which tells what it was asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Web:
    """What the server has and how it answers.

    `asked` has method and path of each request. `ranges` says whether it hands out parts of a file,
    `cut` whether it ends its answers in the middle. A path that starts with a number is refused
    with that status.
    """

    def __init__(self) -> None:
        self.files, self.asked = dict[str, bytes](), list[str]()
        self.ranges, self.cut = True, False
        self.address = ""


class _Handler(BaseHTTPRequestHandler):
    web: Web

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        name = self.path.partition("?")[0].removeprefix("/")
        self.web.asked.append(f"{self.command} {self.path}")
        if name[:3].isdigit():
            self.send_error(int(name[:3]))
        elif name not in self.web.files:
            self.send_error(404)
        else:
            self.file(self.web.files[name], body)

    def file(self, data: bytes, body: bool) -> None:
        requested = self.headers.get("Range") if self.web.ranges else None
        start, stop = 0, len(data)
        if requested:
            first, _, last = requested.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last) + 1 if last else len(data), len(data))
        self.send_response(206 if requested else 200)
        if requested:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
        if self.web.ranges:
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        if body:
            part = data[start:stop]
            self.wfile.write(part[: len(part) // 2] if self.web.cut else part)


@contextmanager
def serving() -> Iterator[Web]:
    """The server, while it runs."""
    web = Web()
    handler = type("Handler", (_Handler,), {"web": web})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    web.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
