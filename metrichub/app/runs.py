"""Runs: uploaded files that are scored, and what became of them, in a folder that is bounded.

A run has a folder of its own, whose name is its id, and a record in it.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from io import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO, Literal

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from pydantic import TypeAdapter

from metrichub.app import catalog, jobs
from metrichub.app.jobs import PROGRESS, FileJob, Summary
from metrichub.app.problem import Problem, Refusal
from metrichub.app.processes import Workers
from metrichub.app.settings import MEBIBYTE, ServerSettings
from metrichub.app.uploads import Choices, Preview, Upload, look, system_names
from metrichub.data.files import format_of, formats, write_text
from metrichub.data.location import PACKED, Location
from metrichub.errors import printable

_RECORD = "run.json"
_ID = re.compile(r"[A-Za-z0-9_-]{24}")


@dataclass(frozen=True)
class Run:
    """The record of a run.

    Attributes:
        id: Its name: 18 random bytes.
        owner: Who began it: a digest of a browser's cookie.
        begun: When it began.
        files: The names that its owner gave the files.
        chosen: How they are to be scored.
        preview: Their contents, once they were looked at.
        state: How far it is; one that is "new" waits for somebody to choose metrics.
        summary: What came out of it.
        refusal: Why nothing did.
    """

    id: str
    owner: str
    begun: datetime
    files: tuple[str, ...]
    chosen: Choices = field(default_factory=Choices)
    preview: Preview | None = None
    state: Literal["new", "waiting", "running", "done", "failed", "stopped"] = "new"
    summary: Summary | None = None
    refusal: Refusal | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come by itself."""
        return self.state not in ("waiting", "running")

    @property
    def systems(self) -> list[str]:
        """The names of the systems, the baseline first."""
        return self.chosen.first(self.preview.systems if self.preview else system_names(self.files))


@dataclass
class _Active:
    run: Run
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)


class Runs:
    """The runs in a folder, which is private to the user if it is made here."""

    def __init__(self, settings: ServerSettings, folder: Path, tasks: TaskGroup) -> None:
        self.settings, self.folder, self._tasks = settings, folder, tasks
        limits = settings.limits
        # Not the workers of requests, so that these are still answered meanwhile.
        self._workers = Workers(limits.workers, limits.waiting, limits.memory)
        self._active: dict[str, _Active] = {}
        self._arriving = 0
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def find(self, id: str) -> Run:
        """The run of an id.

        Raises:
            Problem: there is none, or no longer (404).
        """
        run = self._read(id)
        if run is None:
            raise Problem(404, "UnknownRun", "there is no such run; it was deleted or expired")
        return run

    def all(self) -> list[Run]:
        """All runs, the newest first."""
        runs = (self._read(path.name) for path in self.folder.iterdir())
        return sorted(filter(None, runs), key=lambda run: (run.begun, run.id), reverse=True)

    def _read(self, id: str) -> Run | None:
        """The run of an id, or None if there is none or its record can't be read."""
        if id in self._active:
            return self._active[id].run
        folder = self.folder / id
        if not _ID.fullmatch(id) or folder.is_symlink():
            return None
        try:
            run = _adapter().validate_json((folder / _RECORD).read_bytes())
        except (OSError, ValueError):
            return None
        run = replace(run, id=id)
        if run.ended:
            return run
        message = "the server stopped before this run finished; score the files again"
        return replace(run, state="failed", refusal=Refusal("Interrupted", message))

    def path(self, run: Run, file: str) -> Path:
        """Where a file of a run is."""
        return self.folder / run.id / file

    def size(self, run: Run) -> int:
        """How many bytes a run takes."""
        with suppress(OSError):  # One may go meanwhile.
            return sum(path.lstat().st_size for path in (self.folder / run.id).glob("*"))
        return 0

    def progress(self, run: Run) -> dict[str, Any]:
        """How far it is: samples that are "done" of a "total" if known, and both in words."""
        progress: dict[str, Any] = {"stage": "reading", "done": 0, "total": None}
        with suppress(OSError, ValueError):
            progress |= json.loads(self.path(run, PROGRESS).read_text(encoding="utf-8"))
        stage, done, total = (progress[name] for name in ("stage", "done", "total"))
        of = f": {done:,} of {total:,} samples." if total else " …"
        text = "Waiting for other files." if run.state == "waiting" else f"{stage.capitalize()}{of}"
        return {"state": run.state, "done": done, "total": total, "told": text}

    def is_repeatable(self, run: Run) -> bool:
        """Whether its files are still there to be scored once more."""
        return run.ended and all(path.is_file() for path in self.uploads(run))

    def uploads(self, run: Run) -> list[Path]:
        """Where its files are, while they are kept."""
        return [file.path for file in self._job(run).files]

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """A place for files while they arrive; without one nothing of them is read.

        Raises:
            Problem: too many arrive or haven't ended (503).
        """
        if self._arriving + len(self._active) >= self.settings.limits.waiting:
            raise Problem(503, "Busy", "too many files are waiting; try again later, or stop one")
        self._arriving += 1
        try:
            yield
        finally:
            self._arriving -= 1

    async def receive(
        self,
        owner: str,
        files: Sequence[tuple[str, BinaryIO]],
        chosen: Choices | None = None,
        run: Run | None = None,
    ) -> Run:
        """A new run of files, each with its name; or a run with these files too.

        Raises:
            Problem: another kind of file, or too many or too large ones (422).
        """
        names, id = tuple(short_name(name) for name, _ in files), secrets.token_urlsafe(18)
        old = run or Run(id, owner, datetime.now(UTC), (), chosen or Choices())
        new = replace(old, files=old.files + names, preview=None, refusal=None)
        uploads, limits = self._job(new).files, self.settings.limits
        size = sum(path.stat().st_size for path in self.uploads(old))
        size += sum(stream.seek(0, SEEK_END) for _, stream in files)
        if len(uploads) > limits.systems or size > limits.upload:
            most = f"up to {limits.systems} files, {limits.upload // MEBIBYTE:,} MB together"
            raise Problem(422, "TooLarge", f"a run may have {most}")
        if not run:
            self.path(new, "").mkdir(mode=0o700)
        try:
            # The record first, so that nothing is there that isn't listed.
            self.save(old)
            for file, (_, stream) in zip(uploads[len(old.files) :], files, strict=True):
                await to_thread.run_sync(_copy, stream, file.path)
            self.save(new)
        except BaseException:
            if not run:
                shutil.rmtree(self.path(new, ""), ignore_errors=True)
            raise
        self._make_room()
        return new

    def without(self, run: Run, number: int) -> Run:
        """A run without one of its files."""
        before = self._job(run).files
        before[number].path.unlink(missing_ok=True)
        left = replace(run, files=run.files[:number] + run.files[number + 1 :], preview=None)
        for old, new in zip(before[number + 1 :], self._job(left).files[number:], strict=True):
            old.path.rename(new.path)
        self.save(left)
        return left

    async def look(self, run: Run, chosen: Choices | None = None) -> Run:
        """A run, with what is in its files as they are used, or why they can't be read."""
        job = self._job(replace(run, chosen=chosen or run.chosen))
        columns = catalog.needed(catalog.open_metrics(job.judging))
        work, limits = (look, job.files, job.chosen, columns, job.unpacked), self.settings.limits
        try:
            preview = await self._workers.run(*work, seconds=limits.seconds)
            run = replace(run, chosen=job.chosen, preview=preview)
        except Problem as error:
            run = replace(run, chosen=job.chosen, preview=None, refusal=error.refusal)
        self.save(run)
        return run

    def start(self, run: Run, chosen: Choices) -> None:
        """Score a run's files, which may be once more."""
        if self.is_repeatable(run):
            self.path(run, PROGRESS).unlink(missing_ok=True)
            again = replace(run, state="waiting", chosen=chosen, summary=None, refusal=None)
            active = self._active[run.id] = _Active(again)
            self._note(active)
            self._tasks.start_soon(self._work, active)

    async def end(self, run: Run, seconds: float | None = None) -> None:
        """Wait until a run has ended, up to so many seconds; without these, end it at once."""
        if active := self._active.get(run.id):
            if seconds is None:
                active.scope.cancel()
            with anyio.move_on_after(seconds):
                await active.over.wait()

    async def delete(self, run: Run) -> None:
        """Delete a run; one that goes on is ended first."""
        await self.end(run)
        await to_thread.run_sync(self._remove, run)

    def _remove(self, run: Run) -> None:
        self.path(run, _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.folder / run.id, ignore_errors=True)

    async def _work(self, active: _Active) -> None:
        job, seconds = self._job(active.run), self.settings.limits.upload_seconds
        begun = partial(self._note, active, state="running")
        work = partial(self._workers.run, jobs.score_files, job, seconds=seconds, begun=begun)
        try:
            with active.scope:
                try:
                    summary = await work()
                    for file in job.files:
                        file.path.unlink(missing_ok=True)
                    self._note(active, state="done", summary=summary)
                except Problem as error:
                    self._note(active, state="failed", refusal=error.refusal)
            if active.scope.cancelled_caught:
                self._note(active, state="stopped")
        finally:
            del self._active[active.run.id]
            active.over.set()
        self._make_room()

    def _note(self, active: _Active, **new: Any) -> None:
        active.run = replace(active.run, **new)
        self.save(active.run)

    def save(self, run: Run) -> None:
        """Write a run's record."""
        write_text(self.path(run, _RECORD), _adapter().dump_json(run, indent=1).decode())

    def _job(self, run: Run) -> FileJob:
        """The job of a run; where its files are is said by their numbers."""
        folder, settings = self.folder / run.id, self.settings
        files = tuple(_upload(folder, i, name) for i, name in enumerate(run.files))
        return FileJob(folder, files, run.chosen, settings.judging, settings.limits.unpacked)

    def _make_room(self) -> None:
        """Delete the oldest until no more are left than that; the newest stays in any case."""
        limits, total = self.settings.limits, 0
        for number, run in enumerate(self.all()):
            total += self.size(run)
            if number and run.ended and (number >= limits.runs or total > limits.runs_bytes):
                self._remove(run)


def accepted() -> list[str]:
    """The endings of names of files that can be read."""
    return [f".{format}{packed}" for format in (*formats(), "ndjson") for packed in ("", *PACKED)]


def short_name(name: str) -> str:
    """A file's name without folders, as far as one reads it."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = printable(last)
    return shown if len(shown) <= 80 else f"{shown[:50]}...{shown[-27:]}"


def _upload(folder: Path, number: int, name: str) -> Upload:
    """A file of this name, which says what it is: ".jsonl", or ".csv.gz".

    Raises:
        Problem: it says nothing that can be read (422).
    """
    format = format_of(name)
    if format is None:
        endings = ", ".join(f".{suffix}" for suffix in formats())
        allowed = f"the name has to end in {endings}, each also with {' or '.join(PACKED)}"
        raise Problem(422, "FileError", f"{name}: {allowed}")
    path = folder / f"upload-{number}.{format}{Location.of(name).packing}"
    return Upload(path, format, name)


def _copy(stream: BinaryIO, path: Path) -> None:
    # A file that is only half there when the server ends isn't scored later.
    arriving = path.with_suffix(".part")
    stream.seek(0)
    with arriving.open("xb") as file:
        shutil.copyfileobj(stream, file)
    arriving.rename(path)


@cache
def _adapter() -> TypeAdapter[Run]:
    """The reader and writer of runs as JSON."""
    return TypeAdapter(Run)
