"""Runs: uploaded files that are scored, and what became of them, in a folder that is bounded.

A run has a folder of its own, whose name is its id, and a record in it.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Literal

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from metrichub.app import jobs
from metrichub.app.jobs import PROGRESS, FileJob, Summary, Upload
from metrichub.app.problem import Problem, Refusal, problem
from metrichub.app.processes import Workers
from metrichub.app.settings import ServerSettings
from metrichub.data.files import format_of, formats, write_text
from metrichub.data.location import PACKED, Location
from metrichub.errors import printable

_RECORD = "run.json"
_ID = re.compile(r"[A-Za-z0-9_-]{24}")


@dataclass(frozen=True)
class Run:
    """What is kept of a run.

    Attributes:
        id: Its name: 18 random bytes.
        owner: Who began it: a digest of a browser's cookie.
        begun: When it began.
        files: The names that its owner gave the files.
        metrics: Specs of the metrics.
        mapping: A column, and the name that it has in the files.
        reduce: How to reduce several candidates of a sample to one score.
        state: How far it is.
        summary: What came out of it.
        refusal: Why nothing did.
    """

    id: str
    owner: str
    begun: datetime
    files: tuple[str, ...]
    metrics: tuple[str, ...]
    mapping: dict[str, str] = field(default_factory=dict)
    reduce: str | None = None
    state: Literal["waiting", "running", "done", "failed", "stopped"] = "waiting"
    summary: Summary | None = None
    refusal: Refusal | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "failed", "stopped")

    @property
    def systems(self) -> list[str]:
        """The names of the systems, the baseline first."""
        return jobs.system_names(self.files)


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
        if id in self._active:
            return self._active[id].run
        run = self._read(self.folder / id) if _ID.fullmatch(id) else None
        if run is None:
            raise problem(404, "UnknownRun", "there is no such run; it was deleted or expired")
        return run

    def all(self) -> list[Run]:
        """All runs, the newest first."""
        kept = (self._read(path) for path in self.folder.iterdir() if _ID.fullmatch(path.name))
        return sorted(filter(None, kept), key=lambda run: (run.begun, run.id), reverse=True)

    def _read(self, folder: Path) -> Run | None:
        if folder.name in self._active:
            return self._active[folder.name].run
        try:
            run: Run = _adapter().validate_json((folder / _RECORD).read_bytes())
        except (OSError, ValueError):
            return None
        run = replace(run, id=folder.name)
        if run.ended or folder.is_symlink():
            return None if folder.is_symlink() else run
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
        """How far it is: "samples" so far, "share" of the files if known, "writing" at the end."""
        progress = {"state": run.state, "samples": 0, "share": None, "writing": False}
        with suppress(OSError, ValueError):
            progress |= json.loads(self.path(run, PROGRESS).read_text(encoding="utf-8"))
        return progress | ({"writing": False} if run.ended else {})

    def is_repeatable(self, run: Run) -> bool:
        """Whether its files are still there to be scored once more."""
        return run.ended and all(file.path.is_file() for file in self._job(run).files)

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """A place for files while they arrive; without one nothing of them is read.

        Raises:
            Problem: too many arrive or haven't ended (503).
        """
        if self._arriving + len(self._active) >= self.settings.limits.waiting:
            raise problem(503, "Busy", "too many files are waiting; try again later, or stop one")
        self._arriving += 1
        try:
            yield
        finally:
            self._arriving -= 1

    async def columns(self, name: str, stream: BinaryIO) -> tuple[str, ...]:
        """The columns of an uploaded file, which isn't kept.

        Raises:
            Problem: another kind of file, or one that can't be read (422); it took too long (503).
        """
        limits = self.settings.limits
        with TemporaryDirectory(prefix="metrichub-", ignore_cleanup_errors=True) as folder:
            file = _upload(Path(folder), 0, short_name(name))
            await to_thread.run_sync(_copy, stream, file.path)
            work = jobs.columns_of, file, limits.unpacked
            return await self._workers.run(*work, seconds=limits.seconds)

    async def begin(
        self,
        owner: str,
        files: Sequence[tuple[str, BinaryIO]],
        metrics: Iterable[str] = (),
        mapping: Mapping[str, str] | None = None,
        reduce: str | None = None,
    ) -> Run:
        """A run of files, each with its name; the first is the baseline.

        Raises:
            Problem: another kind of file (422).
        """
        id, names = secrets.token_urlsafe(18), tuple(short_name(name) for name, _ in files)
        chosen = tuple(metrics), dict(mapping or {}), reduce
        run = Run(id, owner, datetime.now(UTC), names, *chosen)
        uploads = self._job(run).files
        folder = self.folder / run.id
        folder.mkdir(mode=0o700)
        try:
            # The record first, so that nothing is there that isn't listed.
            active = self._taken(run)
            for file, (_, stream) in zip(uploads, files, strict=True):
                await to_thread.run_sync(_copy, stream, file.path)
        except BaseException:
            self._active.pop(run.id, None)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._tasks.start_soon(self._work, active)
        self._make_room()
        return run

    def rerun(self, run: Run, metrics: Iterable[str], mapping: Mapping[str, str]) -> None:
        """Score a run's files once more, with these metrics and columns."""
        if self.is_repeatable(run):
            self.path(run, PROGRESS).unlink(missing_ok=True)
            again = replace(run, state="waiting", metrics=tuple(metrics), mapping=dict(mapping))
            again = replace(again, summary=None, refusal=None)
            self._tasks.start_soon(self._work, self._taken(again))

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

    def _taken(self, run: Run) -> _Active:
        active = self._active[run.id] = _Active(run)
        self._note(active)
        return active

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
        text = _adapter().dump_json(active.run, indent=1).decode()
        write_text(self.path(active.run, _RECORD), text)

    def _job(self, run: Run) -> FileJob:
        """The job of a run; where its files are is said by their numbers."""
        folder, settings = self.folder / run.id, self.settings
        files = tuple(_upload(folder, i, name) for i, name in enumerate(run.files))
        chosen = run.metrics, run.mapping, run.reduce
        return FileJob(folder, files, *chosen, settings.judging, settings.limits.unpacked)

    def _make_room(self) -> None:
        """Delete the oldest until no more are left than that; the newest stays in any case."""
        limits, total = self.settings.limits, 0
        for number, run in enumerate(self.all()):
            total += self.size(run)
            if number and run.ended and (number >= limits.runs or total > limits.runs_bytes):
                self._remove(run)


def accepted() -> list[str]:
    """What the names of files may end in."""
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
        known = ", ".join(f".{suffix}" for suffix in formats())
        allowed = f"the name has to end in {known}, each also with {' or '.join(PACKED)}"
        raise problem(422, "FileError", f"{name}: {allowed}")
    path = folder / f"upload-{number}.{format}{Location.of(name).packing}"
    return Upload(path, format, name)


def _copy(stream: BinaryIO, path: Path) -> None:
    # A file that is only half there when the server ends isn't scored later.
    arriving = path.with_suffix(".part")
    with arriving.open("xb") as file:
        shutil.copyfileobj(stream, file)
    arriving.rename(path)


@cache
def _adapter() -> Any:
    """What turns runs into JSON and back, and refuses what is none."""
    from pydantic import TypeAdapter

    return TypeAdapter(Run)
