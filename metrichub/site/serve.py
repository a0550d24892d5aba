"""Serving the cards' site on this machine while cards are written, rebuilt on every change."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from metrichub import CardError, MetrichubError
from metrichub.authoring import SHARED_PROMPTS
from metrichub.catalog.registry import Registry
from metrichub.site.build import Built, build_site
from metrichub.site.doc_pages import CommandInfo

HOST = "127.0.0.1"
_SECONDS = 1.0


@dataclass
class LiveSite:
    """A site that follows the cards; `folder` is its newest build, inside of `home`."""

    home: Path
    folder: Path | None = None
    builds: int = 0
    seen: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    commands: CommandInfo | None = None

    def refresh(self) -> Built | None:
        """The new build if a card, a prompt or the installed metrics changed; else None.

        Raises:
            MetrichubError: the site can't be built; the last build stays.
        """
        importlib.invalidate_caches()
        installed = Registry.installed()
        stamps = _stamps(installed)
        if stamps == self.seen:
            return None
        self.seen = stamps
        folder = self.home / str(self.builds)
        built = build_site(folder, installed, commands=self.commands)
        self.builds += 1
        self.folder = folder
        return built


def _stamps(installed: Registry) -> Mapping[Path, tuple[int, int]]:
    """The time and size of every file that the site is made from."""
    folders = [SHARED_PROMPTS]
    for entry in installed.entries:
        with suppress(CardError):
            folders.append(entry.folder)
    stamps = {}
    for path in (path for folder in folders for path in folder.rglob("*.md")):
        # A file may go between being listed and being looked at.
        with suppress(OSError):
            status = path.stat()
            stamps[path] = (status.st_mtime_ns, status.st_size)
    return stamps


@contextmanager
def serving(live: LiveSite, port: int) -> Iterator[str]:
    """The address at which the newest build is served until the context ends; loopback only."""
    server = ThreadingHTTPServer((HOST, port), partial(_Handler, live))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve_site(
    port: int,
    say: Callable[[str], None],
    stop: threading.Event,
    commands: CommandInfo | None = None,
) -> None:
    """Build, serve and follow the cards until `stop` is set, saying each build in a line."""
    with TemporaryDirectory(prefix="metrichub-site-") as home:
        live = LiveSite(Path(home), commands=commands)
        _tell(live.refresh(), say)
        with serving(live, port) as address:
            say(f"serving on {address}")
            while not stop.wait(_SECONDS):
                try:
                    _tell(live.refresh(), say)
                except MetrichubError as error:
                    say(f"not rebuilt: {error}")


def _tell(built: Built | None, say: Callable[[str], None]) -> None:
    if built is not None:
        say(f"built, cards: {built.cards}")
        for problem in built.problems:
            say(f"note: {problem}")


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, live: LiveSite, *args: Any) -> None:
        super().__init__(*args, directory=str(live.folder))

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a page asks for a dozen files."""
