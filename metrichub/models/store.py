"""The call store: answers of models in an SQLite file that several processes may use at once."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, nullcontext, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from metrichub.errors import JudgeUnavailable
from metrichub.models.usage import Answer

_TABLE = (
    "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, model TEXT NOT NULL, "
    "reply TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL"
    ") WITHOUT ROWID"
)
_COLUMNS = ("key", "model", "reply", "prompt_tokens", "completion_tokens")
_VERSION = 1
"""Of the tables; files of before it was written have 0, and the same tables."""
_PATIENCE = 10.0
"""Seconds that another process may keep the file to itself."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class DamagedStore(JudgeUnavailable):
    """A call store whose file can't be read any more."""


def key_of(request: Mapping[str, Any]) -> str:
    """The SHA-256 of a request: its model, endpoint, messages, schema and parameters."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """Answers in a file; each is committed as it comes."""

    def __init__(self, path: Path) -> None:
        """Open or make the file.

        Raises:
            DamagedStore: it is damaged, or something else than a store.
            JudgeUnavailable: it can't be opened.
        """
        self.path, self.damaged, self._lock = path, False, Lock()
        _identity(path)
        try:
            self._file = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        self._do("PRAGMA synchronous=NORMAL")
        with suppress(sqlite3.OperationalError):
            # Fails at once where another process opens the file, which sets it, too.
            self._file.execute("PRAGMA journal_mode=WAL")
        [(version,)] = self._do("PRAGMA user_version")
        if version > _VERSION:
            raise _unusable(self.path, "a newer version of metrichub made it; upgrade")
        self._do(_TABLE)
        columns = [row[1] for row in self._do("PRAGMA table_info(calls)")]
        if columns != list(_COLUMNS):
            raise _unusable(self.path, f"its answers have other columns: {', '.join(columns)}")
        if version < _VERSION:
            self._do(f"PRAGMA user_version = {_VERSION}")

    def get(self, key: str) -> Answer | None:
        """The answer of an earlier call."""
        query = "SELECT reply, prompt_tokens, completion_tokens FROM calls WHERE key = ?"
        rows = self._do(query, (key,))
        return Answer(*rows[0]) if rows else None

    def put(self, key: str, model: str, answer: Answer) -> bool:
        """Store an answer, unless there is one; returns True."""
        row = (key, model, answer.reply, answer.prompt_tokens, answer.completion_tokens)
        self._do("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", row)
        return True

    def drop(self, key: str) -> None:
        """Delete an answer."""
        self._do("DELETE FROM calls WHERE key = ?", (key,))

    def merge(self, other: Path) -> int:
        """Add the answers of another store that this one lacks; returns their number.

        The other file stays as it is.

        Raises:
            JudgeUnavailable: there is no store in it, or a newer metrichub made it.
        """
        if not other.is_file():
            raise JudgeUnavailable(f"there is no call store {other}")
        before = len(self)
        with closing(Store(other)):  # Brings the tables of an older one up to date.
            self._do("ATTACH ? AS other", (str(other),))
            try:
                self._do("INSERT OR IGNORE INTO calls SELECT * FROM other.calls")
            finally:
                self._do("DETACH other")
        return len(self) - before

    def __len__(self) -> int:
        """The number of answers."""
        return int(self._do("SELECT count(*) FROM calls")[0][0])

    def models(self) -> dict[str, int]:
        """The number of answers of each model."""
        query = "SELECT model, count(*) FROM calls GROUP BY model ORDER BY model"
        return {str(model): int(number) for model, number in self._do(query)}

    def clear(self, model: str) -> None:
        """Delete the answers of a model, and give their room back."""
        self._do("DELETE FROM calls WHERE model = ?", (model,))
        self._do("VACUUM")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _do(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self.damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
            if self.damaged:
                raise DamagedStore(f"the call store {self.path} is damaged: {error}") from error
            raise _unusable(self.path, error) from error


def cache_folder() -> str:
    """Where calls and models are kept: METRICHUB_CACHE, or else the platform's place for it."""
    import platformdirs

    return os.environ.get("METRICHUB_CACHE") or platformdirs.user_cache_dir("metrichub")


def store_path() -> Path:
    """The call store's file in the cache folder, whether or not it exists."""
    return Path(cache_folder(), "calls.sqlite")


def store() -> Store:
    """The store in the cache folder, opened once a process.

    A damaged one is moved aside, with a warning, and a new one begins.

    Raises:
        JudgeUnavailable: it can't be opened.
    """
    path = store_path()
    before = _identity(path)
    try:
        answers = open_store(path)
        if not answers.damaged:
            return answers
        cause = "it can't be read"
    except DamagedStore as error:
        cause = str(error.__cause__)
    # Another process may have moved it by now.
    if _identity(path) == before:
        aside = _move_aside(path)
        logging.getLogger("metrichub").warning(
            f"the call store {path} is damaged ({cause}), so it was moved to {aside}; a new one "
            "begins empty, and answers that only the old one has are asked for again"
        )
    return open_store(path)


def open_store(path: Path) -> Store:
    """The store in a file, opened once a process; another one if the file was replaced."""
    return _opened(path, os.getpid(), _identity(path))


@lru_cache(maxsize=8)
def _opened(path: Path, _process: int, _file: tuple[int, int]) -> Store:
    return Store(path)


def stored_files() -> list[Path]:
    """The files of the call store: its own, and those that SQLite keeps beside it."""
    beside = (Path(f"{store_path()}{end}") for end in ("", "-wal", "-shm"))
    return [path for path in beside if path.exists()]


def damaged_files() -> list[Path]:
    """The files of damaged call stores that were moved aside."""
    return sorted(store_path().parent.glob("calls.damaged-*.sqlite*"))


def delete_all() -> None:
    """Delete the call store, whatever is in its file, and the damaged ones beside it.

    Raises:
        JudgeUnavailable: the system doesn't allow it.
    """
    for path in (*stored_files(), *damaged_files()):
        try:
            path.unlink()
        except OSError as error:
            raise _unusable(path, error.strerror) from error


def store_state() -> str:
    """The state of the call store in words; nothing is created or moved."""
    damaged = damaged_files()
    beside = f"; damaged ones beside it: {', '.join(map(str, damaged))}" if damaged else ""
    try:
        with closing(Store(store_path())) if store_path().exists() else nullcontext() as answers:
            return f"{len(answers) if answers else 0:,} answers{beside}"
    except DamagedStore as error:
        return f"{error}; the next run moves it aside, and begins a new one{beside}"
    except JudgeUnavailable as error:
        return f"{error}{beside}"


def _move_aside(path: Path) -> Path:
    """The new place of a store's file; those that SQLite keeps beside it go along."""
    number = next(n for n in count(1) if not path.with_name(f"calls.damaged-{n}.sqlite").exists())
    try:
        for file in stored_files():
            file.rename(file.with_name(file.name.replace("calls", f"calls.damaged-{number}", 1)))
    except OSError as error:
        raise _unusable(path, f"it is damaged, and can't be moved aside ({error})") from error
    return path.with_name(f"calls.damaged-{number}.sqlite")


def _identity(path: Path) -> tuple[int, int]:
    """The device and inode of a file, which is created if there is none.

    Raises:
        JudgeUnavailable: it can't be made.
    """
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The answers quote the texts, so nobody else may read them.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        status = path.stat()
    except OSError as error:
        raise _unusable(path, error.strerror) from error
    return status.st_dev, status.st_ino


def _unusable(path: Path, cause: object) -> JudgeUnavailable:
    return JudgeUnavailable(
        f"the call store {path} can't be used: {cause}; set METRICHUB_CACHE to another folder, or "
        "have the judge keep nothing (--no-cache, cache=False)"
    )
