"""The call store: answers by a hash of the request, in one SQLite file, and who asks for which."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from metrichub.errors import JudgeUnavailable
from metrichub.models.usage import Answer

_TABLE = (
    "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, model TEXT NOT NULL, "
    "reply TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL"
    ") WITHOUT ROWID"
)
_CLAIMS = (
    "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, "
    "since REAL NOT NULL) WITHOUT ROWID"
)
_COLUMNS = ("key", "model", "reply", "prompt_tokens", "completion_tokens")
_VERSION = 1
"""Of the tables; files of before it was written have 0, and the same tables."""
_PATIENCE = 60.0
"""Seconds that another process may keep the file to itself."""
_CLAIM = 60.0
"""Seconds after which a request is made though another process claimed it: it may hang."""
RENEWAL = _CLAIM / 3
"""Seconds after which one who still asks says so."""
_SEPARATOR = "/"


def key_of(request: Mapping[str, Any]) -> str:
    """The SHA-256 of a request: its model, endpoint, messages, schema and parameters."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """Answers in a file that several processes may use at once; each is committed as it comes."""

    def __init__(self, path: Path, opening: float = _PATIENCE, patience: float = _PATIENCE) -> None:
        """Open or make the file; `patience` is in seconds, for other processes that write.

        Raises:
            JudgeUnavailable: it can't be opened.
        """
        self.path, self._lock = path, Lock()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The answers quote the texts, so nobody else may read them.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._place = _place(path)
            self._file = sqlite3.connect(
                path, timeout=opening, isolation_level=None, check_same_thread=False
            )
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._prepare_in_turn(opening)
            self._file.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def _prepare_in_turn(self, patience: float) -> None:
        """Prepare the file, which another process may be doing at this moment.

        SQLite waits for others, but not to change the journal.
        """
        until = time.monotonic() + patience
        while True:
            try:
                self._file.execute("PRAGMA journal_mode=WAL")
                self._prepare()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    def _prepare(self) -> None:
        """Make the tables of a new file, and check those of another."""
        [(version,)] = self._file.execute("PRAGMA user_version").fetchall()
        if version > _VERSION:
            raise sqlite3.DatabaseError("a newer version of metrichub made it; upgrade")
        self._file.execute(_TABLE)
        self._file.execute(_CLAIMS)
        columns = [row[1] for row in self._file.execute("PRAGMA table_info(calls)")]
        if columns != list(_COLUMNS):
            raise sqlite3.DatabaseError(f"its answers have other columns: {', '.join(columns)}")
        if version < _VERSION:
            self._file.execute(f"PRAGMA user_version = {_VERSION}")

    def get(self, key: str) -> Answer | None:
        """The answer of an earlier call."""
        query = "SELECT reply, prompt_tokens, completion_tokens FROM calls WHERE key = ?"
        rows = self._do(query, (key,))
        return Answer(*rows[0]) if rows else None

    def put(self, key: str, model: str, answer: Answer) -> bool:
        """Keep an answer, of which the first one stays; True, as it is kept then."""
        row = (key, model, answer.reply, answer.prompt_tokens, answer.completion_tokens)
        self._do("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", row)
        return True

    def drop(self, key: str) -> None:
        """Forget an answer that isn't of the form that is read today."""
        self._do("DELETE FROM calls WHERE key = ?", (key,))

    def claim(self, key: str, owner: str) -> bool:
        """Whether the answer is the owner's to ask for.

        It isn't while another one asks, who says so at least once a minute, and whose process
        hasn't ended. To claim again is to say so.
        """
        if self._claimed(key, owner):
            return True
        if self.is_claimed(key, owner):
            return False
        self._do("DELETE FROM claims WHERE key = ?", (key,))
        return self._claimed(key, owner)

    def is_claimed(self, key: str, owner: str) -> bool:
        """Whether another one than the owner asks for the answer."""
        query = "SELECT owner FROM claims WHERE key = ? AND owner != ? AND since >= ?"
        holders = self._do(query, (key, owner, time.time() - _CLAIM))
        return not all(has_ended(holder) for (holder,) in holders)

    def _claimed(self, key: str, owner: str) -> bool:
        now = time.time()
        statement = (
            "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "owner = excluded.owner, since = excluded.since "
            "WHERE owner = excluded.owner OR since < ? RETURNING key"
        )
        return bool(self._do(statement, (key, owner, now, now - _CLAIM)))

    def release(self, key: str, owner: str) -> None:
        """Give up a claim, if it is the owner's."""
        self._do("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))

    def merge(self, other: Path) -> int:
        """Take in the answers of another store that this one lacks; how many they were.

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
                self._do("INSERT OR IGNORE INTO calls SELECT * FROM other.calls", ())
            finally:
                self._do("DETACH other", ())
        return len(self) - before

    def __len__(self) -> int:
        """The number of answers."""
        return int(self._do("SELECT count(*) FROM calls", ())[0][0])

    def models(self) -> dict[str, int]:
        """The number of answers of each model."""
        query = "SELECT model, count(*) FROM calls GROUP BY model ORDER BY model"
        return {str(model): int(number) for model, number in self._do(query, ())}

    def clear(self, model: str | None = None) -> None:
        """Delete all answers, or those of one model, and give their room back."""
        where, values = (" WHERE model = ?", (model,)) if model is not None else ("", ())
        self._do(f"DELETE FROM calls{where}", values)
        self._do("VACUUM", ())

    def files(self) -> list[Path]:
        """The file and those that SQLite keeps beside it."""
        beside = (self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm"))
        return [path for path in beside if path.exists()]

    def is_deleted(self) -> bool:
        """Whether the file is gone, or another one has its name."""
        return _place(self.path) != self._place

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _do(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> JudgeUnavailable:
        return JudgeUnavailable(
            f"the call store {self.path} can't be used: {getattr(error, 'strerror', 0) or error}; "
            "set METRICHUB_CACHE to another folder, or have the judge keep nothing (--no-cache, "
            "cache=False)"
        )


def cache_folder() -> str:
    """Where calls and models are kept: METRICHUB_CACHE, or else the platform's place for it."""
    import platformdirs

    return os.environ.get("METRICHUB_CACHE") or platformdirs.user_cache_dir("metrichub")


def store() -> Store:
    """The store in the cache folder, opened once a process."""
    return open_store(Path(cache_folder(), "calls.sqlite"))


def open_store(path: Path) -> Store:
    """The store in a file, opened once a process."""
    return _opened(path, os.getpid())


@lru_cache(maxsize=8)
def _opened(path: Path, _: int) -> Store:
    return Store(path)


def _place(path: Path) -> tuple[int, int] | None:
    """What tells a file from others that had its name, or None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def new_owner() -> str:
    """A name of its own for what claims answers, with the process and the machine it is in."""
    return _SEPARATOR.join((uuid4().hex, str(os.getpid()), platform.node()))


def has_ended(owner: str) -> bool:
    """Whether the process of an owner is known to have ended; one elsewhere isn't known of."""
    _, _, rest = owner.partition(_SEPARATOR)
    process, _, machine = rest.partition(_SEPARATOR)
    # On Windows a signal would end the process instead of looking for it.
    if os.name == "nt" or machine != platform.node() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        # It is another user's.
        return False
    return _is_zombie(int(process))


def _is_zombie(process: int) -> bool:
    """Whether a process was ended and its parent hasn't taken note, as far as Linux says."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] == ["Z"]
