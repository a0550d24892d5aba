"""The archive: a folder of runs that outlives the server, and that several servers may share.

A run has a folder of its own, whose name is its id, and a record in it. Each server holds a lock as
long as it lives, so that others know whether anybody still works on a run.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from metrichub.app.jobs import Summary
from metrichub.app.problem import Refusal
from metrichub.data.files import write_text

RECORD = "run.json"
State = Literal["waiting", "running", "done", "failed", "stopped"]
_ID = re.compile(r"[A-Za-z0-9_-]{24}")
_GONE = ".gone"


@dataclass(frozen=True)
class RunRecord:
    """What is kept of a run.

    Attributes:
        id: Its name: 18 random bytes.
        client: Who began it.
        server: The server that has it in hand.
        begun: When it began.
        title: What it is called.
        files: The suffix of each file, and the name that its owner gave it.
        metrics: Specs of the metrics.
        mapping: A column, and the name that it has in the files.
        reduce: How to reduce several candidates of a sample to one score.
        state: How far it is.
        summary: What came out of it.
        refusal: Why nothing did.
    """

    id: str
    client: str
    server: str
    begun: datetime
    title: str
    files: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    mapping: dict[str, str] = field(default_factory=dict)
    reduce: str | None = None
    state: State = "waiting"
    summary: Summary | None = None
    refusal: Refusal | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "failed", "stopped")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics."""
        headlines = self.summary.headlines if self.summary else ()
        return tuple(dict.fromkeys(headline.metric for headline in headlines)) or self.metrics


class Archive:
    """The runs in a folder, which is private to the user if it is made here."""

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.server = secrets.token_hex(8)
        self._lock = FileLock(self._lock_of(self.server), thread_local=False)
        self._lock.acquire(timeout=0)
        for path in folder.glob(f"*{_GONE}"):
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """Let others know that this server has ended."""
        self._lock.release()
        self._lock_of(self.server).unlink(missing_ok=True)

    def new(self) -> tuple[str, Path]:
        """An id that can't be guessed, and the folder of its run."""
        id = secrets.token_urlsafe(18)
        folder = self.folder / id
        folder.mkdir(mode=0o700)
        return id, folder

    def write(self, record: RunRecord) -> None:
        """Keep a run, unless it was deleted meanwhile."""
        if folder := self._folders().get(record.id):
            write_text(folder / RECORD, _adapter().dump_json(record, indent=1).decode())

    def find(self, id: str) -> RunRecord | None:
        """The run of an id, if it is there."""
        folder = self._folders().get(id)
        return self._read(folder) if folder else None

    def all(self) -> list[RunRecord]:
        """All runs, the oldest first."""
        records = filter(None, map(self._read, self._folders().values()))
        return sorted(records, key=lambda record: (record.begun, record.id))

    def size(self, id: str) -> int:
        """How many bytes a run takes."""
        folder = self._folders().get(id)
        return sum(_size(path) for path in folder.iterdir()) if folder else 0

    def remove(self, id: str) -> None:
        """Delete a run with all that was made of it."""
        if folder := self._folders().get(id):
            gone = folder.with_name(f"{folder.name}{_GONE}")
            # Whole or not at all: what is cut short here is finished at the next start.
            try:
                folder.rename(gone)
            except OSError:
                return
            shutil.rmtree(gone, ignore_errors=True)

    def _folders(self) -> dict[str, Path]:
        """The folders of runs as they are listed: no name that somebody gives makes a path."""
        return {
            path.name: path
            for path in self.folder.iterdir()
            if _ID.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        }

    def _read(self, folder: Path) -> RunRecord | None:
        try:
            record: RunRecord = _adapter().validate_json((folder / RECORD).read_bytes())
        except (OSError, ValueError):
            # Another server may be writing its first record, or has just deleted the run.
            return None
        record = replace(record, id=folder.name)
        if record.ended or self._is_alive(record.server):
            return record
        message = "the server stopped before this run finished; score the files again"
        return replace(record, state="failed", refusal=Refusal("Interrupted", message))

    def _is_alive(self, server: str) -> bool:
        """Whether the server of this name still holds its lock."""
        from filelock import FileLock, Timeout

        if server == self.server:
            return True
        path = next((lock for lock in self._locks() if lock == self._lock_of(server)), None)
        if path is None:
            return False
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        path.unlink(missing_ok=True)
        return False

    def _locks(self) -> Iterator[Path]:
        yield from self.folder.glob("*.lock")

    def _lock_of(self, server: str) -> Path:
        return self.folder / f"{server}.lock"


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


@cache
def _adapter() -> Any:
    """What turns records into JSON and back, and refuses what is none."""
    from pydantic import TypeAdapter

    return TypeAdapter(RunRecord)
